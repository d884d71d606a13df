// SPDX-License-Identifier: Apache-2.0

internal import Keybag
public import KeychainModel
internal import KeychainStore
internal import Presence
public import SecretMemory

/// The authentication contexts of callers, and the keys that a person has released in them.
public struct KeychainContexts: Sendable {
    let keychain: OpenKeychain
    let registry: AuthenticationContexts
    let recognitions: RecentRecognitions

    // MARK: Contexts

    public func create(from caller: CallerIdentity) throws(KeychainError) -> AuthenticationContextID {
        try registry.add(ProvenContext(keychain.store), of: caller.process)
    }

    public func adopt(
        _ context: AuthenticationContextID, from caller: CallerIdentity
    ) throws(KeychainError) {
        try registry.add(ProvenContext(keychain.store), as: context, of: caller.process)
    }

    public func setApplicationPassword(
        _ password: SharedSecret?, in context: AuthenticationContextID, from caller: CallerIdentity
    ) throws(KeychainError) {
        let proven = try registry.context(context, of: caller.process)
        do throws(KeybagError) {
            proven.setPassword(
                try password.map { (secret) throws(KeybagError) in
                    try ApplicationPassword(secret, cost: keychain.passcodeCost)
                })
        } catch {
            throw KeychainError(error)
        }
    }

    public func hasApplicationPassword(
        in context: AuthenticationContextID, from caller: CallerIdentity
    ) throws(KeychainError) -> Bool {
        try registry.context(context, of: caller.process).hasPassword
    }

    public func end(_ context: AuthenticationContextID, from caller: CallerIdentity) {
        registry.remove(context, of: caller.process)
    }

    public func endAll(of process: CallerIdentity.ProcessIdentity) {
        registry.removeAll(of: process)
        recognitions.remove(process)
    }

    // MARK: Evaluation

    public func authenticate(
        for target: AuthenticationTarget, in context: AuthenticationContextID, prompt: AuthenticationPrompt,
        from caller: CallerIdentity, host: any EvaluationHost = LocalEvaluationHost()
    ) throws(KeychainError) {
        let proven = try registry.context(context, of: caller.process)
        func evaluation(_ subject: PresenceRequest.Subject) -> PresenceEvaluation {
            PresenceEvaluation(
                store: keychain.store, sources: keychain.presence, context: proven, user: keychain.user, caller: caller,
                subject: subject,
                prompt: prompt, host: host, recognitions: recognitions)
        }
        switch target {
        case .item(let reference):
            let item = try constrainedItem(reference, caller)
            guard let flags = item.accessControlFlags, let constraints = try AccessConstraints.parse(flags) else {
                return
            }
            let subject = PresenceRequest.Subject.item(label: item.promptLabel, identifier: reference.promptIdentifier)
            try evaluation(subject).satisfy(constraints)
        case .newItem(let label, let flags):
            guard flags.contains(.applicationPassword), !proven.hasPassword else { return }
            try evaluation(.item(label: label, identifier: "")).askPassword(.newApplicationPassword)
        case .accessControl(let flags):
            guard let constraints = try AccessConstraints.parse(flags) else { return }
            try evaluation(.keychain).satisfy(constraints)
        case .policy(let policy): try evaluation(.keychain).satisfy(policy)
        }
    }

    /// Returns the item of a target, without its secrets. It must be in a group that the caller may
    /// read.
    private func constrainedItem(
        _ reference: PersistentReference, _ caller: CallerIdentity
    ) throws(KeychainError) -> ItemRecord {
        let caller = try Authorizer.authorize(caller)
        let search = try caller.search(ItemQuery(nil, synchronizable: .any, persistentReference: reference), for: .read)
        let result = try keychain.run { () throws(StoreError) in
            try keychain.store.search(search, limit: 1, withSecrets: false)
        }
        guard let item = result.records.first else { throw .itemNotFound }
        return item
    }

    // MARK: Status

    public func presenceStatus(at place: PromptPlace, from caller: CallerIdentity) throws(KeychainError)
        -> PresenceStatus
    {
        let methods = keychain.presence.methods.report(for: keychain.user, at: place).map { report in
            PresenceStatus.Method(
                name: report.name, factors: report.factors.map(\.name), problem: report.unavailability?.problem,
                hint: report.unavailability?.hint)
        }
        let keybag = try keychain.run { () throws(StoreError) in try keychain.store.refresh() }
        return PresenceStatus(
            methods: methods, hasPasscode: keybag.hasPasscode, biometry: biometryState,
            enrolledSet: try? keychain.presence.biometry?.enrolledSet(of: keychain.user),
            securityKeys: keybag.securityKeys.count)
    }

    /// Whether biometry can be used. A sensor that recognizes the person is of no use without the
    /// key of biometry.
    private var biometryState: PresenceStatus.Biometry {
        let sensor = keychain.presence.biometry?.state(of: keychain.user) ?? .notAvailable
        return sensor == .available && !keychain.store.holdsBiometryKey ? .needsPasscode : sensor
    }
}

extension PersistentReference {
    /// Distinguishes items with the same label in the queue of prompts.
    fileprivate var promptIdentifier: String { "\(itemClass.rawValue) \(identifier)" }
}

extension ItemQuery {
    /// The text that lets the person recognize the items that the query names.
    var promptLabel: String {
        let names = [ItemAttribute.label, .service, .server, .account].compactMap { attribute -> String? in
            guard case .string(let text)? = attributes[attribute], !text.isEmpty else { return nil }
            return text
        }
        return names.joined(separator: ", ")
    }
}

extension ItemRecord {
    /// The text that lets the person recognize the item: its label, or its service or server with the account.
    var promptLabel: String {
        func text(_ attribute: ItemAttribute) -> String? {
            guard case .string(let text)? = self[attribute], !text.isEmpty else { return nil }
            return text
        }
        if let label = text(.label) { return label }
        let names = [text(.service) ?? text(.server), text(.account)].compactMap { $0 }
        return names.isEmpty ? itemClass.rawValue : names.joined(separator: ", ")
    }
}
