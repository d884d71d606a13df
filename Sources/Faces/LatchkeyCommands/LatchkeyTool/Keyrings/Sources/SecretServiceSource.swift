// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem
internal import SecretMemory
internal import SecretServiceClient
internal import SystemBus

/// The Secret Service of a bus: gnome-keyring, KWallet, or another one. Used by one thread.
final class SecretServiceSource: ImportSource {
    let name: String
    private let client: SecretServiceClient
    private let origin: KeyringOrigin
    private let unlockTimeout: Int
    private let io: any CommandIO
    /// The paths of the items, by their number.
    private var paths: [ObjectPath] = []
    private var textBytes = 0

    /// - Parameter unlockTimeout: how long a prompt waits, in seconds.
    /// - Throws: errSecParam if another program than `origin` is the Secret Service.
    init(
        _ origin: KeyringOrigin, on address: BusAddress, unlockTimeout: Int, io: any CommandIO
    ) throws(CommandFailure) {
        let client = try ImportFailure.mapErrors(origin) { () throws(SecretServiceClientError) in
            try SecretServiceClient(on: address)
        }
        let program = client.program.executable ?? "a program of unknown name"
        let found = try ImportFailure.mapErrors(origin) { () throws(SecretServiceClientError) in
            try KeyringOrigin.program(of: client)
        }
        guard found == origin || found == nil && origin.includesOthers else {
            throw .status(
                KeychainError(
                    .param, "expected \(origin.name) as the Secret Service of the bus, found \(program)",
                    hint: found.map { "latchkey import --from \($0.rawValue)" } ?? origin.startHint))
        }
        name = "\(origin.name): \(program)"
        (self.client, self.origin, self.unlockTimeout, self.io) = (client, origin, unlockTimeout, io)
    }

    func contents(_ progress: ProgressLine) throws(CommandFailure) -> SourceContents {
        try ImportFailure.mapErrors(origin) { () throws(SecretServiceClientError) -> SourceContents in
            var contents = SourceContents()
            let memory = try collectionInMemory()
            for path in try client.collections() {
                guard let found = try collection(at: path, isInMemory: path == memory, &contents) else { continue }
                try read(found, into: &contents, progress)
            }
            return contents
        }
    }

    func secrets(of items: [SourceItem]) throws(CommandFailure) -> [Result<SourceSecret, Omission>] {
        try ImportFailure.mapErrors(origin) {
            () throws(SecretServiceClientError) -> [Result<SourceSecret, Omission>] in
            var secrets: [Result<SourceSecret, Omission>] = []
            var budget = Self.maxSecretBytes
            var rest = ArraySlice(items)
            while !rest.isEmpty {
                let batch = rest.prefix(32).map { paths[$0.number] }
                rest = rest.dropFirst(batch.count)
                let found = try client.secrets(of: batch)
                for path in batch { secrets.append(Self.secret(found[path], &budget)) }
            }
            return secrets
        }
    }

    // MARK: Collections

    /// Returns the collection in memory. The service forgets its items at the end of the session.
    private func collectionInMemory() throws(SecretServiceClientError) -> ObjectPath? {
        do throws(SecretServiceClientError) {
            return try client.collection(named: "session")
        } catch {
            guard !error.endsSession else { throw error }
            return nil
        }
    }

    /// Describes a collection, and unlocks it.
    ///
    /// - Returns: nil for a collection that is left out; `contents` reports it.
    private func collection(
        at path: ObjectPath, isInMemory: Bool, _ contents: inout SourceContents
    ) throws(SecretServiceClientError) -> RemoteCollection? {
        do throws(SecretServiceClientError) {
            let found = try client.collection(at: path)
            guard !isInMemory else {
                if !found.items.isEmpty {
                    contents.collections.append(SourceCollection(label: found.label, omission: Self.inMemory))
                }
                return nil
            }
            guard found.isLocked else { return found }
            io.say("latchkey: '\(found.label)' is locked; \(origin.name) asks for its password\n")
            if let omission = try unlock(path) {
                contents.collections.append(SourceCollection(label: found.label, omission: omission))
                return nil
            }
            let unlocked = try client.collection(at: path)
            guard unlocked.isLocked else { return unlocked }
            contents.collections.append(
                SourceCollection(
                    label: found.label, omission: Omission("it is locked after its prompt", .interactionNotAllowed)))
        } catch {
            // Other programs have no such collections: the whole service is refused.
            if case .limitExceeded = error { throw error }
            guard !error.endsSession else { throw error }
            contents.collections.append(
                SourceCollection(label: path.text, omission: Omission("\(error)", ImportFailure.status(of: error))))
        }
        return nil
    }

    /// - Returns: why the collection stays locked; nil if it does not.
    private func unlock(_ path: ObjectPath) throws(SecretServiceClientError) -> Omission? {
        switch try client.unlock(path, within: .seconds(unlockTimeout)) {
        case .unlocked: return nil
        case .dismissed: return Omission("it is locked, and its prompt was dismissed", .interactionNotAllowed)
        case .timedOut:
            return Omission(
                "it is locked, and its prompt had no answer within \(unlockTimeout) seconds", .interactionNotAllowed)
        }
    }

    // MARK: Items

    private func read(
        _ collection: RemoteCollection, into contents: inout SourceContents, _ progress: ProgressLine
    ) throws(SecretServiceClientError) {
        let number = contents.collections.count
        contents.collections.append(SourceCollection(label: collection.label))
        guard paths.count + collection.items.count <= client.limits.maxItems else {
            throw .limitExceeded("\(client.limits.maxItems) items")
        }
        for path in collection.items {
            try read(path, of: number, into: &contents)
            progress.show(paths.count)
        }
    }

    private func read(
        _ path: ObjectPath, of collection: Int, into contents: inout SourceContents
    ) throws(SecretServiceClientError) {
        let number = paths.count
        paths.append(path)
        let found: RemoteItem
        do throws(SecretServiceClientError) {
            found = try client.item(at: path)
        } catch {
            guard !error.endsSession else { throw error }
            let omission = Omission("\(error)", ImportFailure.status(of: error))
            contents.omitted.append((collection: collection, name: path.text, omission: omission))
            return
        }
        textBytes += found.textByteCount
        guard textBytes <= client.limits.maxTextBytes else {
            throw .limitExceeded("\(client.limits.maxTextBytes) bytes of labels and attributes")
        }
        do throws(KeychainError) {
            contents.items.append(
                try SourceItem(
                    number: number, collection: collection, label: found.label,
                    attributes: found.attributes.map { (name: $0.name, value: $0.value) }, created: found.created))
        } catch {
            contents.omitted.append(
                (collection: collection, name: String(found.label.prefix(64)), omission: Omission(error)))
        }
    }

    private static func secret(
        _ found: Result<RemoteSecret, SecretServiceClientError>?, _ budget: inout Int
    ) -> Result<SourceSecret, Omission> {
        switch found {
        case .success(let secret)?:
            guard secret.bytes.count <= budget else { return .failure(tooManyBytes) }
            budget -= secret.bytes.count
            return .success(SourceSecret(bytes: secret.bytes, contentType: ContentType(secret.contentType)))
        case .failure(let error)?: return .failure(Omission("\(error)", ImportFailure.status(of: error)))
        case nil: return .failure(Omission("the service has not given its secret", .itemNotFound))
        }
    }

    private static let inMemory = Omission("it is kept in memory only, until the session ends", nil)
    private static let tooManyBytes = Omission(
        "it and the items before it have more than \(maxSecretBytes) bytes of secrets", .dataTooLarge)
    /// Of the secrets that are in memory at a time: 32 of the largest items that the keychain stores.
    private static let maxSecretBytes = 128 << 20
}
