// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import LatchkeyService
internal import LinuxSystem
public import SecretMemory
internal import Synchronization

/// The keychains of homes in the file system: of one user, or of all users of the machine, each opened when it is first asked for.
public final class HomeProvider: KeychainProvider {
    private let mode: KeychainStatus.Mode
    private let home: @Sendable (UInt32) -> KeychainHome?
    private let clocks: Clocks
    private let limits: AuditLog.Limits
    private let automaticPasscode: AutomaticUnlock.Source
    private let slots = Mutex<[UInt32: Slot]>([:])

    /// The user's own keychain, for this user alone.
    ///
    /// - Parameter automaticPasscode: the daemon's own passcode, where it has one.
    public convenience init(
        user: UInt32, home: KeychainHome, clocks: Clocks = .system, limits: AuditLog.Limits = AuditLog.Limits(),
        automaticPasscode: @escaping AutomaticUnlock.Source = { () throws(KeychainError) in nil }
    ) {
        self.init(mode: .user, clocks: clocks, limits: limits, automaticPasscode: automaticPasscode) { $0 == user ? home : nil }
    }

    /// A keychain for each user, in the directory `users` under the daemon's own.
    public convenience init(stateDirectory: String, clocks: Clocks = .system, limits: AuditLog.Limits = AuditLog.Limits()) {
        self.init(mode: .system, clocks: clocks, limits: limits, automaticPasscode: { () throws(KeychainError) in nil }) { user in
            // Whoever is nobody shares the number with everybody who is (user_namespaces(7)).
            Self.nobody.contains(user) ? nil : KeychainHome(root: "\(stateDirectory)/users/\(user)")
        }
    }

    private init(
        mode: KeychainStatus.Mode, clocks: Clocks, limits: AuditLog.Limits, automaticPasscode: @escaping AutomaticUnlock.Source,
        home: @escaping @Sendable (UInt32) -> KeychainHome?
    ) {
        self.mode = mode
        self.home = home
        self.clocks = clocks
        self.limits = limits
        self.automaticPasscode = automaticPasscode
    }

    /// Takes a user's home before anybody asks for it.
    ///
    /// - Throws: errSecNotAvailable where another daemon has it.
    public func claim(homeOf user: UInt32) throws(KeychainError) {
        let home = try home(of: user)
        _ = try slot(of: user).ownership { () throws(KeychainError) in try HomeOwnership.claim(home) }
    }

    public func introduction(to user: UInt32) throws(KeychainError) -> (mode: KeychainStatus.Mode, home: KeychainHome?) {
        (mode, try home(of: user))
    }

    public func keychain(of user: UInt32) throws(KeychainError) -> ServedKeychain {
        let home = try home(of: user)
        // Each user waits for his own keychain only.
        let slot = slot(of: user)
        return try slot.keychain { () throws(KeychainError) in
            let ownership = try slot.ownership { () throws(KeychainError) in try HomeOwnership.claim(home) }
            return try open(home, ownership)
        }
    }

    private func slot(of user: UInt32) -> Slot {
        slots.withLock { slots in
            if let slot = slots[user] { return slot }
            let fresh = Slot()
            slots[user] = fresh
            return fresh
        }
    }

    public func recover(_ user: UInt32, with key: SharedSecret, newPasscode: SharedSecret?) throws(KeychainError) -> Int {
        let home = try home(of: user)
        let slot = slot(of: user)
        let ownership = try slot.ownership { () throws(KeychainError) in try HomeOwnership.claim(home) }
        // Whether the key fits is known before anybody's keychain is closed for it.
        let lost = try EmbeddedService.recover(home: home, key: key, newPasscode: nil, clocks: clocks, ownership: ownership)
        guard newPasscode != nil else { return lost }
        return try slot.whileClosed { () throws(KeychainError) in
            try EmbeddedService.recover(home: home, key: key, newPasscode: newPasscode, clocks: clocks, ownership: ownership)
        }
    }

    public func forEachOpen(_ body: (ServedKeychain) -> Void) {
        for slot in slots.withLock({ Array($0.values) }) { slot.opened.map(body) }
    }

    public func close() {
        forEachOpen { $0.close() }
        slots.withLock { $0 = [:] }
    }

    private func home(of user: UInt32) throws(KeychainError) -> KeychainHome {
        guard let home = home(user) else {
            guard mode == .system else {
                throw KeychainError(.missingEntitlement, "this latchkeyd serves one user, and user \(user) is another one")
            }
            throw KeychainError(
                .missingEntitlement, "the user \(user) is nobody, whose keychain would be everybody's",
                hint: "run the program as a user of its own")
        }
        return home
    }

    private static let nobody: Set<UInt32> = [65534, 65535, .max]

    private func open(_ home: KeychainHome, _ ownership: HomeOwnership) throws(KeychainError) -> ServedKeychain {
        let service = try EmbeddedService(home: home, clocks: clocks, ownership: ownership, automaticPasscode: automaticPasscode)
        let clocks = clocks
        return ServedKeychain(service: service, audit: try service.openAuditLog(limits: limits), mode: mode, home: home) {
            () throws(KeychainError) in try EmbeddedService(home: home, clocks: clocks, ownership: ownership)
        }
    }

    /// One user's keychain. A failure is not remembered: the next call tries again.
    private final class Slot: Sendable {
        private let gate = Gate()
        private let known = Mutex<ServedKeychain?>(nil)
        private let claimed = Mutex<HomeOwnership?>(nil)

        var opened: ServedKeychain? { known.withLock { $0 } }

        func ownership(_ claim: () throws(KeychainError) -> HomeOwnership) throws(KeychainError) -> HomeOwnership {
            let outcome: Result<HomeOwnership, KeychainError> = claimed.withLock { claimed in
                if let claimed { return .success(claimed) }
                let fresh = Result { () throws(KeychainError) in try claim() }
                claimed = try? fresh.get()
                return fresh
            }
            return try outcome.get()
        }

        /// Runs `body` while the keychain is closed; the next call opens it anew.
        func whileClosed<Result>(_ body: () throws(KeychainError) -> Result) throws(KeychainError) -> Result {
            gate.enter()
            defer { gate.release() }
            known.withLock { known in
                defer { known = nil }
                return known
            }?.close()
            return try body()
        }

        func keychain(_ open: () throws(KeychainError) -> ServedKeychain) throws(KeychainError) -> ServedKeychain {
            if let opened { return opened }
            gate.enter()
            defer { gate.release() }
            if let opened { return opened }
            let fresh = try open()
            known.withLock { $0 = fresh }
            return fresh
        }
    }
}
