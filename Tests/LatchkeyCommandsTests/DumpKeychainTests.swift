// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import KeychainTesting
@testable import LatchkeyCommands
import LatchkeyOperations
import LatchkeyService
import SecretMemory
import Testing

/// `security dump-keychain` of a keychain that is larger than the command holds.
@Suite("Dump of a large keychain")
struct DumpKeychainTests {
    private let keychain: TestKeychain
    private let caller = CallerIdentity(executable: "/usr/bin/security", isUserCommand: true)
    /// With `length`, more than twice the content that the command holds.
    private static let count = 180
    private static let length = 100_000

    init() throws { keychain = try TestKeychain(.onDisk) }

    private func add(_ numbers: Range<Int>, length: Int = length, _ protection: ProtectionClass) throws {
        for number in numbers {
            let item = ItemAddition(
                .genericPassword, attributes: [.account: .string("item-\(number)"), .service: .string("s")],
                secrets: ItemSecrets(data: SharedSecret(copying: String(repeating: "x", count: length).utf8)),
                protection: protection)
            _ = try keychain.service.by(caller).add(item)
        }
    }

    private func dumped(_ outcome: Outcome) -> [String] {
        outcome.output.matches(of: /"acct"<blob>="(item-\d+)"/).map { String($0.1) }
    }

    @Test("Every item is shown once, with its data, in the order of addition", .long)
    func complete() throws {
        try add(0..<Self.count, .afterFirstUnlock)
        let outcome = keychain.security("dump-keychain -d")
        #expect(outcome.exit == 0 && outcome.error.isEmpty, "\(outcome.error)")
        #expect(dumped(outcome) == (0..<Self.count).map { "item-\($0)" })
        let data = "\"\(String(repeating: "x", count: Self.length))\""
        #expect(outcome.output.split(separator: "\n").count { $0 == data } == Self.count)
    }

    @Test("Of a locked keychain, the items of open classes are shown, and a note says that others are not", .long)
    func locked() throws {
        try add(0..<Self.count, .afterFirstUnlock)
        try add(Self.count..<Self.count + 5, length: 1, .whenUnlocked)
        try keychain.service.administrator.setPasscode(SharedSecret(copying: "a passcode".utf8)) { _, _ in }
        try keychain.service.administrator.lock(immediately: true)
        let outcome = keychain.security("dump-keychain -d")
        #expect(outcome.exit == 0)
        #expect(dumped(outcome) == (0..<Self.count).map { "item-\($0)" })
        #expect(outcome.error.contains("locked items are not shown"))
    }
}
