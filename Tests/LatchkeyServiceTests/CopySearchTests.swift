// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import KeychainTesting
import LatchkeyOperations
import LatchkeyService
import SecretMemory
import Synchronization
import Testing

/// The search for copies of secrets in other bytes.
@Suite("Search for copies")
struct CopySearchTests {
    /// Runs a search over parts of a stream.
    private func search(
        _ keychain: TestKeychain, _ parts: [[UInt8]], passcode: String? = nil
    ) throws(KeychainError) -> (report: CopyReport, matches: [CopyMatch]) {
        let rest = Mutex(parts[...])
        let found = Collected<CopyMatch>()
        let report = try keychain.service.administrator.findCopies(
            passcode: passcode.map { SharedSecret(copying: $0.utf8) },
            next: { () throws(KeychainError) in SharedSecret(copying: rest.withLock { $0.popFirst() } ?? []) },
            found: { for match in $0 { found.append(match) } })
        return (report, found.all)
    }

    private static func filler(_ count: Int) -> [UInt8] { [UInt8](repeating: 0x2E, count: count) }

    @Test("Each copy is found with its item and its position, also across parts", arguments: Backend.allCases)
    func copies(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        try keychain.add("a", .whenUnlocked, data: "correct horse")
        try keychain.add("b", .always, data: "battery staple")
        try keychain.add("c", .whenUnlocked, data: "correct horse")
        let first = Self.filler(100_000) + Array("correct horse".utf8) + Self.filler(7) + Array("battery".utf8)
        let (report, matches) = try search(
            keychain, [first, Array(" staple".utf8) + Self.filler(80_000), Array("correct horse".utf8)])
        #expect(report.compared == 3 && report.short == 0 && report.locked == 0)
        let found = Set(matches.map { "\($0.position) \($0.item.name)" })
        #expect(found == ["100000 s (a)", "100000 s (c)", "100020 s (b)", "180034 s (a)", "180034 s (c)"])
        #expect(matches.allSatisfy { $0.item.itemClass == .genericPassword && $0.item.accessGroup == "G1" })
        #expect(try search(keychain, [Array("correct hors".utf8)]).matches.isEmpty)
        #expect(try search(keychain, []).matches.isEmpty)
    }

    @Test("Short, common, long and locked secrets and those with an access control are left out, and counted")
    func leftOut() throws {
        let keychain = try TestKeychain(.onDisk)
        try keychain.setPasscode()
        try keychain.add("short", .always, data: "1234567")
        try keychain.add("common", .always, data: "password1")
        try keychain.add("long", .always, data: String(repeating: "x1", count: 40_000))
        try keychain.add("open", .always, data: "an open secret")
        try keychain.add("closed", .whenUnlocked, data: "a closed secret")
        _ = try keychain.service.by(TestKeychain.caller).add(
            ItemAddition(
                .genericPassword, attributes: [.account: .string("guarded"), .service: .string("s")],
                secrets: ItemSecrets(data: SharedSecret(copying: "a guarded secret".utf8)), protection: .whenUnlocked,
                accessControlFlags: .devicePasscode))
        try keychain.service.administrator.lock(immediately: true)
        let text = Array("1234567 password1 an open secret, a closed secret, a guarded secret".utf8)
        let (report, matches) = try search(keychain, [text], passcode: Sample.passcode)
        #expect(matches.map(\.item.name) == ["s (open)"] && matches.map(\.position) == [18])
        #expect(report.compared == 1 && report.short == 1 && report.common == 1 && report.long == 1)
        #expect(report.locked + report.guarded == 2 && report.locked >= 1)
        try keychain.unlock()
        let unlocked = try search(keychain, [text], passcode: Sample.passcode)
        #expect(Set(unlocked.matches.map(\.item.name)) == ["s (open)", "s (closed)"])
        #expect(unlocked.report.locked == 0 && unlocked.report.guarded == 1)
    }

    @Test(
        "The passcode is needed, and a keychain with only locked items is refused",
        arguments: [Backend.onDisk, .daemon])
    func refused(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        try keychain.setPasscode()
        try keychain.add("closed", .whenUnlocked, data: "a closed secret")
        let text = Array("a closed secret".utf8)
        #expect(status { () throws(KeychainError) in _ = try search(keychain, [text]) } == -25293)
        #expect(
            status { () throws(KeychainError) in _ = try search(keychain, [text], passcode: "wrong one") } == -25293)
        #expect(try search(keychain, [text], passcode: Sample.passcode).matches.count == 1)
        try keychain.service.administrator.lock(immediately: true)
        let locked = status { () throws(KeychainError) in
            _ = try search(keychain, [text], passcode: Sample.passcode)
        }
        #expect(locked == -25308)
    }

    @Test(
        "Guesses one by one are refused: short parts in a search, and many searches",
        arguments: [Backend.onDisk, .daemon])
    func guesses(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        try keychain.add("a", .always, data: "the secret")
        let guess = Array("the guess ".utf8)
        #expect(status { () throws(KeychainError) in _ = try search(keychain, [guess, guess]) } == -50)
        for _ in 2...KeychainCopies.maxSearches { _ = try search(keychain, [guess]) }
        #expect(status { () throws(KeychainError) in _ = try search(keychain, [guess]) } == -25291)
        keychain.clock.advance(by: 3601)
        #expect(try search(keychain, [Array("the secret".utf8)]).matches.count == 1)
        guard backend == .daemon else { return }
        // Each search is one line of the audit log, with its status.
        let lines = Collected<String>()
        _ = try keychain.service.administrator.auditLines(after: 0, since: nil) { part in
            for line in part where line.contains("\"find-copies\"") { lines.append(line) }
            return true
        }
        #expect(lines.all.count == KeychainCopies.maxSearches + 2)
        #expect(lines.all.count { $0.contains("-25291") } == 1 && lines.all.count { $0.contains("-50") } == 1)
    }

    @Test("More copies than the maximum end the search")
    func maxMatches() throws {
        let keychain = try TestKeychain(.onDisk)
        try keychain.add("a", .always, data: "the secret")
        let text = Array(repeating: Array("the secret".utf8), count: 11_000).flatMap { $0 }
        #expect(status { () throws(KeychainError) in _ = try search(keychain, [text]) } == -25291)
    }

    @Test("A search that locks in the middle ends, and tells no more")
    func lockedMeanwhile() throws {
        let keychain = try TestKeychain(.onDisk)
        try keychain.setPasscode()
        try keychain.add("a", .whenUnlocked, data: "the secret")
        let asked = Collected<Int>()
        let refused = status { () throws(KeychainError) in
            _ = try keychain.service.administrator.findCopies(
                passcode: Sample.secret,
                next: { () throws(KeychainError) in
                    asked.append(1)
                    if asked.all.count == 2 { try keychain.service.administrator.lock(immediately: true) }
                    return SharedSecret(copying: Self.filler(70_000) + Array("the secret".utf8))
                },
                found: { _ in })
        }
        #expect(refused == -25308 && asked.all.count == 2)
    }
}
