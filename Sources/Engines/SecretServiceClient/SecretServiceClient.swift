// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem
internal import SecretTransfer
public import SystemBus

/// A client of the Secret Service (`org.freedesktop.secrets`) that reads the items of another program. Nothing in the
/// service is changed, except that its prompt may unlock a collection.
///
/// Every call blocks, for at most the timeout of ``ClientLimits``, except ``unlock(_:within:)``. Secrets
/// cross the bus encrypted. All calls go to the connection that had the name at the start: if another
/// program takes the name, they fail.
///
///     let client = try SecretServiceClient(on: .session)
///     for path in try client.collections() { … try client.collection(at: path).items … }
public final class SecretServiceClient: Sendable {
    /// The program that is the service.
    public let program: BusProgram
    public let limits: ClientLimits
    private let bus: BusConnection
    private let service: BusName
    private let session: ObjectPath
    private let cipher: SessionCipher

    /// Connects to the bus, starts the service if the bus can, and opens a session.
    ///
    /// - Throws: ``SecretServiceClientError/ownService`` if the service is Latchkey's own,
    ///   ``SecretServiceClientError/notEncrypted`` if it encrypts no secrets.
    public init(on address: BusAddress, limits: ClientLimits = ClientLimits()) throws(SecretServiceClientError) {
        let bus = try withErrors(as: SecretServiceClientError.init) { () throws(BusError) in
            try BusConnection(to: address, limits: ClientLimits.bus, timeout: limits.timeout)
        }
        let service = try SecretServiceOwner.started(on: bus, limits)
        guard !service.isOwn else { throw .ownService }
        let opened = try Self.openSession(with: service.connection, on: bus, limits)
        (program, self.limits, self.bus, self.service) = (service.program, limits, bus, service.connection)
        (session, cipher) = (opened.path, opened.cipher)
    }

    deinit { bus.close() }

    /// Whether the connection of the service has another name of the bus as well.
    public func owns(_ name: BusName) throws(SecretServiceClientError) -> Bool {
        try withErrors(as: SecretServiceClientError.init) { () throws(BusError) in try bus.owner(of: name) == service }
    }

    // MARK: Objects

    /// Returns the paths of all collections.
    public func collections() throws(SecretServiceClientError) -> [ObjectPath] {
        let found = RemoteProperties(try properties(of: Self.serviceInterface, at: Self.root))
        let paths = try found.value("Collections", as: [ObjectPath].self)
        guard paths.count <= limits.maxCollections else { throw .limitExceeded("\(limits.maxCollections) collections") }
        return paths
    }

    public func collection(at path: ObjectPath) throws(SecretServiceClientError) -> RemoteCollection {
        let found = RemoteProperties(try properties(of: Self.collectionInterface, at: path))
        let items = try found.value("Items", as: [ObjectPath].self)
        guard items.count <= limits.maxItems else { throw .limitExceeded("\(limits.maxItems) items") }
        return RemoteCollection(
            path: path, label: try found.value("Label"), isLocked: try found.value("Locked"), items: items)
    }

    public func item(at path: ObjectPath) throws(SecretServiceClientError) -> RemoteItem {
        let found = RemoteProperties(try properties(of: Self.itemInterface, at: path))
        guard try !found.value("Locked", as: Bool.self) else { throw .locked }
        return RemoteItem(
            path: path, label: try found.value("Label"), attributes: try found.attributes("Attributes"),
            created: try found.time("Created"), modified: try found.time("Modified"))
    }

    /// Returns the collection with an alias, such as `session`; nil if there is none.
    public func collection(named alias: String) throws(SecretServiceClientError) -> ObjectPath? {
        var answer = try call(
            BusMethod(service, Self.root, Self.serviceInterface, "ReadAlias"), [.string(alias)],
            returning: [.objectPath])
        let path = try Self.next(&answer, as: ObjectPath.self)
        return path == "/" ? nil : path
    }

    // MARK: Secrets

    /// Returns the secrets of items. The service leaves out locked items, and those that do not exist any
    /// more. A secret that cannot be decrypted is an error of its item.
    public func secrets(
        of items: [ObjectPath]
    ) throws(SecretServiceClientError) -> [ObjectPath: Result<RemoteSecret, SecretServiceClientError>] {
        do throws(SecretServiceClientError) {
            return try received(items)
        } catch {
            guard !error.endsSession, items.count > 1 else { throw error }
        }
        // One of them is malformed or too large: each by itself, so that the others are read.
        var secrets: [ObjectPath: Result<RemoteSecret, SecretServiceClientError>] = [:]
        for item in items {
            do throws(SecretServiceClientError) {
                secrets[item] = try received([item])[item]
            } catch {
                guard !error.endsSession else { throw error }
                secrets[item] = .failure(error)
            }
        }
        return secrets
    }

    private func received(
        _ items: [ObjectPath]
    ) throws(SecretServiceClientError) -> [ObjectPath: Result<RemoteSecret, SecretServiceClientError>] {
        var answer = try call(
            BusMethod(service, Self.root, Self.serviceInterface, "GetSecrets"),
            [items.busValue, .objectPath(session)],
            returning: [.dictionary(key: .objectPath, value: TransferredSecret.busType)], holdsSecrets: true)
        let value = try withErrors(as: SecretServiceClientError.init) { () throws(BusError) in try answer.nextValue() }
        guard case .dictionary(_, _, let entries) = value else { return [:] }
        let requested = Set(items)
        var secrets: [ObjectPath: Result<RemoteSecret, SecretServiceClientError>] = [:]
        for entry in entries {
            guard case .objectPath(let path) = entry.key, requested.contains(path) else {
                throw .malformed("expected secrets of the items that were asked for, found another one")
            }
            secrets[path] = Result { () throws(SecretServiceClientError) in try decrypted(entry.value) }
        }
        return secrets
    }

    private func decrypted(_ value: BusValue) throws(SecretServiceClientError) -> RemoteSecret {
        guard let secret = TransferredSecret(value), secret.session == session else {
            throw .malformed("expected a secret of this session, found another one")
        }
        do throws(BusFailure) {
            return RemoteSecret(bytes: try cipher.decrypt(secret), contentType: secret.contentType)
        } catch {
            throw .malformed("the secret is not encrypted as its session requires")
        }
    }

    // MARK: Unlocking

    /// Asks the service to unlock a collection, by its own prompt.
    ///
    /// - Parameter limit: how long the person may take. After it, the prompt is dismissed.
    public func unlock(
        _ collection: ObjectPath, within limit: Duration
    ) throws(SecretServiceClientError) -> UnlockOutcome {
        var answer = try call(
            BusMethod(service, Self.root, Self.serviceInterface, "Unlock"), [[collection].busValue],
            returning: [.array(.objectPath), .objectPath])
        let unlocked = try Self.next(&answer, as: [ObjectPath].self)
        let prompt = try Self.next(&answer, as: ObjectPath.self)
        guard prompt != "/" else { return unlocked.contains(collection) ? .unlocked : .dismissed }
        let wait = try PromptWait(for: prompt, of: service, on: bus)
        try call(BusMethod(service, prompt, Self.promptInterface, "Prompt"), [.string("")])
        switch wait.end(within: limit) {
        case .completed(let isDismissed): return isDismissed ? .dismissed : .unlocked
        case .serviceEnded: throw .ended
        case .timedOut:
            // The service may have ended it at this moment; then there is nothing to dismiss.
            _ = try? call(BusMethod(service, prompt, Self.promptInterface, "Dismiss"))
            return .timedOut
        }
    }

    // MARK: Calls

    private func properties(
        of interface: String, at path: ObjectPath
    ) throws(SecretServiceClientError) -> [String: BusVariant] {
        try withErrors(as: SecretServiceClientError.init) { () throws(BusError) in
            try bus.properties(of: interface, at: path, service, timeout: limits.timeout)
        }
    }

    @discardableResult
    private func call(
        _ method: BusMethod, _ arguments: [BusValue] = [], returning types: [BusType] = [], holdsSecrets: Bool = false
    ) throws(SecretServiceClientError) -> BusFields {
        try withErrors(as: SecretServiceClientError.init) { () throws(BusError) in
            try bus.call(
                method, arguments, returning: types, holdsSecrets: holdsSecrets, timeout: limits.timeout)
        }
    }

    private static func next<Value: BusRepresentable>(
        _ fields: inout BusFields, as type: Value.Type
    ) throws(SecretServiceClientError) -> Value {
        do throws(BusError) {
            return try fields.next(Value.self)
        } catch {
            throw SecretServiceClientError(error)
        }
    }

    // MARK: The session

    private static func openSession(
        with service: BusName, on bus: BusConnection, _ limits: ClientLimits
    ) throws(SecretServiceClientError) -> (path: ObjectPath, cipher: SessionCipher) {
        let offer: SessionOffer
        var answer: BusFields
        do throws(BusFailure) { offer = try SessionOffer() } catch { throw noSession(error.message) }
        do throws(BusError) {
            answer = try bus.call(
                BusMethod(service, root, serviceInterface, "OpenSession"),
                [.string(SessionCipher.diffieHellmanName), .variant(offer.input)],
                returning: [.variant, .objectPath], timeout: limits.timeout)
        } catch .remote(let failure) where failure.name == BusFailure.notSupported("").name {
            throw .notEncrypted
        } catch {
            let failure = SecretServiceClientError(error)
            throw failure.endsSession ? failure : noSession(failure.description)
        }
        let output = try next(&answer, as: BusVariant.self).content
        let path = try next(&answer, as: ObjectPath.self)
        do throws(BusFailure) {
            return (path, try offer.cipher(answeredBy: output))
        } catch {
            throw noSession(error.message)
        }
    }

    private static func noSession(_ problem: String) -> SecretServiceClientError {
        .bus("no session with the Secret Service: \(problem)")
    }

    private static let root: ObjectPath = "/org/freedesktop/secrets"
    private static let serviceInterface = "org.freedesktop.Secret.Service"
    private static let collectionInterface = "org.freedesktop.Secret.Collection"
    private static let itemInterface = "org.freedesktop.Secret.Item"
    private static let promptInterface = "org.freedesktop.Secret.Prompt"
}
