// SPDX-License-Identifier: Apache-2.0

internal import Keybag
internal import KeychainModel
internal import KeychainStore

/// The part of calls that handles items with access controls.
struct ConstrainedCalls: Sendable {
    let keychain: OpenKeychain
    let contexts: AuthenticationContexts

    /// Returns the context of a call; nil if it names none.
    func provenContext(_ authentication: Authentication, of caller: CallerIdentity) throws(KeychainError)
        -> ProvenContext?
    {
        try authentication.context.map { (id) throws(KeychainError) in
            try contexts.context(id, of: caller.process)
        }
    }

    /// Returns the binding of a new access control.
    ///
    /// - Throws: errSecNotAvailable for biometry in a process that cannot enforce it.
    func binding(for flags: AccessControlFlags?, _ context: ProvenContext?) throws(KeychainError)
        -> ConstraintBinding
    {
        var binding = ConstraintBinding(applicationPassword: context?.password)
        guard let flags, let terms = try AccessConstraints.parse(flags)?.terms else { return binding }
        guard let biometric = terms.first(where: { $0 == .biometryAny || $0 == .biometryCurrentSet }) else {
            return binding
        }
        guard let biometry = keychain.presence.biometry else {
            throw KeychainError(
                .notAvailable,
                "\(biometric) cannot be enforced without latchkeyd: a program that opens the keychain itself has its keys",
                hint: "use latchkeyd (systemctl --user enable --now latchkeyd.socket), or devicePasscode")
        }
        guard let set = try biometry.enrolledSet(of: keychain.user) else {
            throw .authentication(
                .biometryNotEnrolled, "\(biometric) requires an enrolled finger", hint: "fprintd-enroll")
        }
        binding.enrolledSet = set
        return binding
    }

    /// Runs a change of the store that may need the person, and translates the need for an authentication.
    ///
    /// - Parameters:
    ///   - itemClass: the class of the item that the change has reached.
    ///   - new: the access control that the change gives to items, and a label for the prompt.
    func runConstrained<Result>(
        _ itemClass: @autoclosure () -> ItemClass, _ context: ProvenContext?,
        new: (label: String, flags: AccessControlFlags?) = ("", nil),
        _ body: () throws(StoreError) -> Result
    ) throws(KeychainError) -> Result {
        let outcome = try keychain.run { () throws(StoreError) -> Swift.Result<Result, KeychainError> in
            do throws(StoreError) {
                return .success(try body())
            } catch {
                switch error {
                case .authenticationNeeded(_, let item):
                    return .failure(.authenticationNeeded(for: .item(PersistentReference(itemClass(), item))))
                case .wrongApplicationPassword(let item):
                    context?.passwordWas(right: false)
                    return .failure(.authenticationNeeded(for: .item(PersistentReference(itemClass(), item))))
                case .constraintLost(let item):
                    discard([item], of: itemClass())
                    return .failure(.itemNotFound)
                case .keybag(.applicationPasswordNeeded):
                    return .failure(.authenticationNeeded(for: .newItem(label: new.label, new.flags ?? [])))
                default: throw error
                }
            }
        }
        return try outcome.get()
    }

    /// Applies the rules for items with an unsatisfied access control.
    ///
    /// - Parameter limit: the maximum number of items; nil for no limit.
    /// - Throws: the need for an authentication, unless the call leaves such items out.
    func settle(
        _ records: [ItemRecord], _ authentication: Authentication, limit: Int?
    ) throws(KeychainError) -> [ItemRecord] {
        guard records.contains(where: { $0.needsAuthentication != nil }) else { return records }
        var settled: [ItemRecord] = []
        for var record in records {
            if record.needsAuthentication?.appliesToPrivateKeyUsage == true {
                // Only the use of the key is restricted.
                record.needsAuthentication = nil
            } else if record.needsAuthentication != nil {
                guard authentication.interaction != .skip else { continue }
                throw .authenticationNeeded(for: .item(record.persistentReference))
            }
            settled.append(record)
            if settled.count == limit { break }
        }
        return settled
    }

    /// Deletes items that never open again, because the enrolled biometry has changed.
    func discard(_ items: [ItemIdentifier], of itemClass: ItemClass) {
        for item in items {
            for grade in [AccessGroup.Grade.claimed, .attested] {
                let search = ItemSearch(itemClass, groups: .all(grade), synchronizable: .any, identifier: item)
                // If it cannot be deleted now, the next search finds it lost again.
                _ = try? keychain.store.remove(search, now: keychain.now())
            }
        }
    }
}
