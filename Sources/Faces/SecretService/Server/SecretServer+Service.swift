// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyService
internal import SecretMemory
internal import SecretTransfer
internal import SystemBus

/// The methods of `org.freedesktop.Secret.Service`.
extension SecretServer {
    func performService(
        _ method: String, _ arguments: inout CallArguments, _ call: BusMethodCall
    ) throws(BusFailure) -> [BusValue] {
        switch method {
        case "OpenSession":
            let algorithm = try arguments.next(String.self)
            let (cipher, output) = try SessionCipher.negotiate(algorithm, try arguments.next(BusVariant.self).content)
            return [.variant(output), .objectPath(try sessions.open(cipher, for: call.caller).path)]
        case "CreateCollection":
            let properties = try CollectionProperties(try arguments.next([String: BusVariant].self))
            return try createCollection(properties, alias: try arguments.next(), call)
        case "ChangeLock": return [.objectPath(try passcodeChange(of: try arguments.next(), call))]
        case "ReadAlias": return [.objectPath(try readAlias(try arguments.next()))]
        case "SetAlias":
            let alias = try arguments.next(String.self)
            try setAlias(alias, to: try arguments.next())
            return []
        default: throw .unknownMethod("There is no method “\(method)”")
        }
    }

    /// The methods that take any number of paths, and those that find any number of items.
    ///
    /// - Returns: nil for another method.
    func performInTurns(
        _ method: String, _ arguments: CallArguments, _ call: BusMethodCall, _ path: SecretPath
    ) throws(BusFailure) -> Answer? {
        var arguments = arguments
        switch (path, method) {
        case (.service, "Unlock"): return .inTurns(unlock(try arguments.nextPaths(), call))
        case (.service, "Lock"): return .inTurns(lock(try arguments.nextPaths(), call))
        case (.service, "LockService"): return .inTurns(try lockAll(call))
        case (.service, "GetSecrets"):
            let paths = try arguments.nextPaths()
            return try secrets(of: paths, session: try arguments.next(), call)
        case (.service, "SearchItems"): return search(try arguments.nextAttributes(), call)
        case (.collection(let selector), _):
            return try performInTurns(method, &arguments, try collection(selector, call.path), call)
        default: return nil
        }
    }

    /// Answers with the items that are open to the program, and the others.
    private func search(_ attributes: SecretAttributes, _ call: BusMethodCall) -> Answer {
        let reader = reader(call.sender)
        return .read { [self] () throws(BusFailure) in
            let found = try search(attributes, in: nil)
            let (open, locked) = try BusFailure.mapErrors(call.path) {
                () throws(SecretStoreError) -> ([ItemReference], [ItemReference]) in
                try consent.divide(found, for: reader)
            }
            return [open.paths.busValue, locked.paths.busValue]
        }
    }

    func search(_ attributes: SecretAttributes, in collection: CollectionName?) throws(BusFailure) -> [FoundItem] {
        try BusFailure.mapErrors(collection?.path ?? SecretPath.root) { () throws(SecretStoreError) in
            try store.search(attributes, in: collection)
        }
    }

    // MARK: Collections

    private func createCollection(
        _ properties: CollectionProperties, alias: String, _ call: BusMethodCall
    ) throws(BusFailure) -> [BusValue] {
        guard alias.isEmpty || alias == CollectionAlias.default.rawValue else {
            throw .notSupported("Only the 'default' alias is supported")
        }
        let (existing, isLocked) = try BusFailure.mapErrors(call.path) {
            () throws(SecretStoreError) -> (CollectionName, Bool) in
            let name = try store.defaultCollection()
            return (name, try store.collection(name).isLocked)
        }
        // There always is a default collection, and a client that asks for one gets it.
        if !alias.isEmpty { return [.objectPath(existing.path), .objectPath(.absent)] }
        guard isLocked else {
            return [.objectPath(try addCollection(properties.label)), .objectPath(.absent)]
        }
        let prompt = try prompt(for: [existing], call) { [weak self] isAgreed in
            guard isAgreed, let path = try? self?.addCollection(properties.label) else {
                return PromptResult(isDismissed: true, value: .objectPath(.absent))
            }
            return PromptResult(isDismissed: false, value: .objectPath(path))
        }
        return [.objectPath(.absent), .objectPath(prompt)]
    }

    func addCollection(_ label: String) throws(BusFailure) -> ObjectPath {
        let created = try BusFailure.mapErrors(SecretPath.root) { () throws(SecretStoreError) -> SecretCollection in
            try store.createCollection(label: label)
        }
        announceCollections()
        return created.name.path
    }

    private func readAlias(_ name: String) throws(BusFailure) -> ObjectPath {
        guard let alias = CollectionAlias(rawValue: name) else { return .absent }
        return try collection(.alias(alias), SecretPath.root).path
    }

    private func setAlias(_ name: String, to path: ObjectPath) throws(BusFailure) {
        guard name == CollectionAlias.default.rawValue else {
            throw .notSupported("Only the 'default' alias is supported")
        }
        guard path != .absent else { return try setDefault(.login, path) }
        guard case .collection(let selector)? = SecretPath(path) else { throw .noSuchObject(path) }
        try setDefault(try collection(selector, path), path)
    }

    private func setDefault(_ name: CollectionName, _ path: ObjectPath) throws(BusFailure) {
        do throws(SecretStoreError) {
            try store.setDefaultCollection(name)
        } catch .notFound {
            throw BusFailure.noSuchObject(path)
        } catch {
            throw BusFailure(error, path)
        }
    }

    // MARK: Secrets

    /// The secrets that were read, and their length together in bytes.
    private struct SecretsProgress {
        var entries: [BusValue.Entry] = []
        var length = 0

        var value: BusValue { .dictionary(key: .objectPath, value: .secret, entries) }
    }

    /// Locked items, those that need an answer of the person, and paths without an item are left out.
    private func secrets(
        of paths: [ObjectPath], session: ObjectPath, _ call: BusMethodCall
    ) throws(BusFailure) -> Answer {
        let cipher = try sessions.cipher(at: session, of: call.sender)
        let reader = reader(call.sender)
        @Sendable func read(_ path: ObjectPath, _ progress: inout SecretsProgress) throws(BusFailure) {
            guard let secret = try secret(at: path, reader) else { return }
            // Before the next one is read: they are kept in locked memory.
            progress.length += secret.bytes.count
            guard progress.length <= SecretLimits.maxAnswerLength else {
                throw .limitsExceeded("An answer has at most \(SecretLimits.maxAnswerLength) bytes of secrets")
            }
            let value = try Self.transfer(secret, session, cipher)
            progress.entries.append(BusValue.Entry(.objectPath(path), value))
        }
        guard paths.count > SecretLimits.maxPathsAtOnce else {
            return .read { () throws(BusFailure) in
                var (progress, seen) = (SecretsProgress(), Set<ObjectPath>())
                for path in paths where seen.insert(path).inserted { try read(path, &progress) }
                return [progress.value]
            }
        }
        return .inTurns(
            PathTurns(
                paths, of: call, SecretsProgress(),
                each: { (path, progress) throws(BusFailure) in try read(path, &progress) },
                finish: { (progress) throws(BusFailure) in [progress.value] }
            ).step)
    }

    private func secret(at path: ObjectPath, _ reader: SecretReader) throws(BusFailure) -> SecretValue? {
        do throws(SecretStoreError) {
            return try reading { () throws(SecretStoreError) in
                guard let target = try target(path), let item = target.item else { return nil }
                return try secret(of: ItemReference(target.collection, item), reader)
            }
        } catch .notFound {
            return nil
        } catch .locked {
            return nil
        } catch {
            throw BusFailure(error, path)
        }
    }

    /// Returns the secret of an item; nil if the person must be asked before.
    func secret(of item: ItemReference, _ reader: SecretReader) throws(SecretStoreError) -> SecretValue? {
        try consent.isNeeded(for: item, by: reader) ? nil : try store.secret(of: item)
    }

    /// Returns a secret in the form of a session.
    static func transfer(
        _ secret: SecretValue, _ session: ObjectPath, _ cipher: SessionCipher
    ) throws(BusFailure) -> BusValue {
        let (parameters, value) = try cipher.encrypt(secret.bytes)
        return TransferredSecret(
            session: session, parameters: parameters, value: value, contentType: secret.contentType
        ).busValue
    }

    /// Returns the secret that a client has sent.
    func receive(_ secret: TransferredSecret, _ call: BusMethodCall) throws(BusFailure) -> SecretValue {
        let cipher = try sessions.cipher(at: secret.session, of: call.sender)
        guard secret.contentType.utf8.count <= SecretLimits.maxContentTypeLength else {
            throw .limitsExceeded("The type of a content has at most \(SecretLimits.maxContentTypeLength) bytes")
        }
        let bytes = try cipher.decrypt(secret)
        guard bytes.count <= ItemLimits.maxSecretSize else {
            throw .limitsExceeded("A secret has at most \(ItemLimits.maxSecretSize) bytes")
        }
        return SecretValue(bytes, contentType: secret.contentType)
    }
}

extension CallArguments {
    /// Reads paths: `ao`.
    mutating func nextPaths() throws(BusFailure) -> [ObjectPath] {
        let paths = try next([ObjectPath].self)
        guard paths.count <= SecretLimits.maxPaths else {
            throw .limitsExceeded("A call has at most \(SecretLimits.maxPaths) paths")
        }
        return paths
    }
}
