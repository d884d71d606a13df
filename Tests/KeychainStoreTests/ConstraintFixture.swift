// SPDX-License-Identifier: Apache-2.0

@testable import Keybag
import KeychainModel
@testable import KeychainStore
import KeychainTesting
import LinuxSystem
import SecretMemory
import Synchronization
import Testing

/// A keychain with a passcode and an owner that keeps the key of biometry, and the proofs that a person brings.
final class ConstraintFixture {
    let files: StoreFixture
    private(set) var store: KeychainStore
    /// The clock of the delays after wrong passcodes.
    let clock = ManualClock()

    static let cost = PasscodeCost(exponent: 10)
    static let set = EnrolledSet(digest: Array(repeating: 1, count: 32))
    static let otherSet = EnrolledSet(digest: Array(repeating: 2, count: 32))

    init(hasPasscode: Bool = true) throws {
        files = try StoreFixture()
        store = try files.open(clock: clock.clock)
        store.keepBiometryKey()
        if hasPasscode { try store.passcode.set(Self.passcode("secret"), cost: Self.cost) }
    }

    deinit { store.close() }

    /// Opens the keychain again, after `change` has changed its closed files.
    func reopen(_ passcode: String? = "secret", _ change: () throws -> Void = {}) throws {
        store.close()
        try change()
        store = try files.open(clock: clock.clock)
        store.keepBiometryKey()
        if let passcode { try store.unlock(Self.passcode(passcode), floor: Self.cost) }
    }

    static func passcode(_ text: String) throws -> Passcode { try Passcode(SharedSecret(copying: text.utf8)) }

    static func password(_ text: String = "app") throws -> ApplicationPassword {
        try ApplicationPassword(SharedSecret(copying: text.utf8), cost: PasscodeCost(exponent: 4))
    }

    static func binding() throws -> ConstraintBinding {
        ConstraintBinding(enrolledSet: set, applicationPassword: try password())
    }

    static func item(
        _ account: String, _ flags: AccessControlFlags?, _ protection: ProtectionClass = .whenUnlocked
    ) -> ItemRecord {
        var item = Sample.item(account)
        item.accessControlFlags = flags
        item.protection = protection
        return item
    }

    /// Enters wrong passcodes, each after the delay of the one before.
    func enterWrongPasscodes(_ count: Int) throws {
        let counted = { [self] in store.hasPasscode ? try store.passcodeAttempts().count : count }
        try KeychainTesting.enterWrongPasscodes(1...count, counted: counted) { wrong in
            clock.advance(3600)
            #expect(throws: StoreError.self) { _ = try keys(passcode: wrong) }
        }
    }

    @discardableResult
    func add(_ account: String, _ flags: AccessControlFlags?, _ protection: ProtectionClass = .whenUnlocked) throws
        -> ItemRecord
    {
        try store.add(Self.item(account, flags, protection), binding: Self.binding())
    }

    /// Adds items in one transaction.
    func addMany(_ count: Int, _ flags: AccessControlFlags, _ protection: ProtectionClass = .whenUnlocked) throws {
        let items = (0..<count).map { Self.item("item \($0)", flags, protection) }
        #expect(try store.add(items, binding: Self.binding()).count == count)
    }

    /// The keys of a person with the given proofs.
    func keys(
        passcode: String? = nil, set: EnrolledSet? = nil, password: String? = nil
    ) throws -> ConstraintKeys {
        let keys = store.constraintKeys()
        if let passcode { try store.satisfy(keys, with: Self.passcode(passcode)) }
        if let set { try store.satisfy(keys, with: BiometricMatch(recognizedAgainst: set)) }
        if let password { keys.setApplicationPassword(try Self.password(password)) }
        return keys
    }

    func find(_ account: String, _ keys: ConstraintKeys? = nil) throws -> SearchResult {
        try store.search(
            Sample.search([.account: .string(account)]), limit: nil, withSecrets: true, constraints: keys)
    }

    /// The data of an item; nil if it does not open.
    func text(_ account: String, _ keys: ConstraintKeys? = nil) throws -> String? {
        try find(account, keys).records.first?.text
    }

    /// The stored row of an account, and a seal of the open keychain.
    func row(_ account: String, _ keys: ConstraintKeys? = nil) throws -> (row: ItemRow, seal: RowSeal) {
        // The seal itself derives no key of an application password.
        if let keys { _ = try find(account, keys) }
        let found = try store.read(ConstraintUse(keys)) { (database, seal) throws(StoreError) in
            var found: (ItemRow, RowSeal)?
            let search = Sample.search([.account: .string(account)])
            try self.store.items(database, seal).forEachCandidate(of: search) { (row) throws(StoreError) in
                found = (row, seal)
                return false
            }
            return found
        }
        return try #require(found)
    }
}

/// A clock that changes only when it is told to.
final class ManualClock: Sendable {
    private let nanoseconds = Mutex(UInt64(1_000_000_000_000))

    var clock: BootClock { BootClock(now: { self.nanoseconds.withLock { $0 } }, identifier: { "boot" }) }

    func advance(_ seconds: UInt64) { nanoseconds.withLock { $0 += seconds * 1_000_000_000 } }
}
