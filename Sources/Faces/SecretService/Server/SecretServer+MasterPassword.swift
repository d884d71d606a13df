// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem
internal import SecretMemory
internal import SecretTransfer
internal import SystemBus

/// The methods of `org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface`: a passcode crosses
/// the bus, encrypted in a session.
extension SecretServer {
    func performWithPasscode(
        _ method: String, _ arguments: inout CallArguments, _ call: BusMethodCall
    ) throws(BusFailure) -> [BusValue]? {
        switch method {
        case "CreateWithMasterPassword":
            let properties = try CollectionProperties(try arguments.next([String: BusVariant].self))
            let passcode = try passcode(try arguments.nextSecret(), call)
            return try createCollection(properties, passcode, call)
        case "UnlockWithMasterPassword":
            let name = try existing(try arguments.next())
            let passcode = try passcode(try arguments.nextSecret(), call)
            try answerLater(call) { [store] () throws(SecretStoreError) in try store.unlock(name, with: passcode) }
            return nil
        case "ChangeWithMasterPassword":
            let name = try existing(try arguments.next())
            let old = try passcode(try arguments.nextSecret(), call)
            let new = try passcode(try arguments.nextSecret(), call)
            try answerLater(call) { [store] () throws(SecretStoreError) in
                try store.changePasscode(of: name, from: old.count > 0 ? old : nil, to: new)
            }
            return nil
        case "ChangeWithPrompt": return [.objectPath(try passcodeChange(of: try arguments.next(), call))]
        default: throw .unknownMethod("There is no method “\(method)”")
        }
    }

    /// All collections of a keychain have its passcode, so that a new one cannot have another.
    private func createCollection(
        _ properties: CollectionProperties, _ passcode: SharedSecret, _ call: BusMethodCall
    ) throws(BusFailure) -> [BusValue]? {
        let (store, budgets) = (store, budgets)
        try acquireThread(for: call.caller)
        let isRunning = BackgroundThread.run { [weak self] in
            defer { Self.releaseThread(of: call.caller, budgets) }
            call.answer {
                let name = try store.defaultCollection()
                if try store.collection(name).isLocked {
                    try BusFailure.mapErrors(call.path) { () throws(SecretStoreError) in
                        try store.unlock(name, with: passcode)
                    }
                }
                guard let path = try self?.addCollection(properties.label) else {
                    throw BusFailure.failed("the service ends")
                }
                return [.objectPath(path)]
            }
        }
        guard isRunning else {
            Self.releaseThread(of: call.caller, budgets)
            throw .limitsExceeded("no thread is available")
        }
        return nil
    }

    /// - Throws: `NotSupported` in a session without encryption: every program of the user could read
    ///   the passcode.
    private func passcode(_ secret: TransferredSecret, _ call: BusMethodCall) throws(BusFailure) -> SharedSecret {
        let cipher = try sessions.cipher(at: secret.session, of: call.sender)
        guard case .aes = cipher else {
            throw .notSupported("A passcode needs a session of \(SessionCipher.diffieHellmanName)")
        }
        return try cipher.decrypt(secret)
    }

    private func existing(_ path: ObjectPath) throws(BusFailure) -> CollectionName {
        guard case .collection(let selector)? = SecretPath(path) else { throw .noSuchObject(path) }
        return try collection(selector, path)
    }

    /// Answers on another thread: deriving a key from a passcode takes a third of a second.
    private func answerLater(
        _ call: BusMethodCall, _ body: @escaping @Sendable () throws(SecretStoreError) -> Void
    ) throws(BusFailure) {
        try acquireThread(for: call.caller)
        let budgets = budgets
        let isRunning = BackgroundThread.run {
            defer { Self.releaseThread(of: call.caller, budgets) }
            do throws(SecretStoreError) {
                try body()
                call.answer()
            } catch {
                call.fail(BusFailure(error, call.path))
            }
        }
        guard isRunning else {
            Self.releaseThread(of: call.caller, budgets)
            throw .limitsExceeded("no thread is available")
        }
    }

    // MARK: Threads

    /// - Throws: `LimitsExceeded`: each derivation of a key takes a thread, and megabytes of memory.
    private func acquireThread(for sender: BusCaller) throws(BusFailure) {
        try budgets.acquire(Self.threadBudget, by: sender)
        do throws(BusFailure) {
            // All programs together have the account of the service's own name; no caller has it.
            try budgets.acquire(Self.totalThreadBudget, by: Self.all)
        } catch {
            budgets.release(Self.threadBudget, by: sender)
            throw error
        }
    }

    private static func releaseThread(of sender: BusCaller, _ budgets: SenderBudgets) {
        budgets.release(threadBudget, by: sender)
        budgets.release(totalThreadBudget, by: all)
    }

    private static let all = BusCaller(name, nil)
    private static let threadBudget = BudgetItem("passcodes at the same time", max: 4)
    private static let totalThreadBudget = BudgetItem("passcodes of all programs at the same time", max: 16)
}
