// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import KeychainSessions
import KeychainTesting
import LatchkeyOperations
import LatchkeyService
import SecretMemory
import Testing

/// The commands of `latchkey consent`, and the setting.
@Suite("latchkey consent")
struct ConsentCommandTests {
    private static let service = CallerIdentity(executable: "/usr/libexec/latchkey/latchkey-secret-service")

    /// Adds a password, and a consent for it as the Secret Service does; returns its reference.
    private static func addConsent(_ program: String, _ keychain: TestKeychain) throws -> PersistentReference {
        let map = try LookupAttributes([("service", "example.com")])
        let record = try keychain.service.by(service).add(
            ItemAddition(
                map, label: "Mail", data: SharedSecret(copying: "x".utf8), contentType: nil, replaces: true,
                accessGroup: AccessGroup.shared.name))
        let path = try #require(ProgramPath(program))
        let reference = record.persistentReference
        try KeychainConsents(KeychainSession(keychain.service, as: service))
            .add([Consent(path, .item(reference.bytes))])
        return reference
    }

    @Test("SECS-11: nothing is asked until the person wants it, and the setting is kept", arguments: Backend.allCases)
    func setting(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        let consents = KeychainConsents(KeychainSession(keychain.service, as: Self.service))
        #expect(try consents.mode() == .never)
        #expect(keychain.latchkey("settings").output.contains("consent:        never asked"))
        for mode in [ConsentMode.creator, .always, .never] {
            let changed = keychain.latchkey("settings consent \(mode.rawValue) --json")
            #expect(changed.exit == 0 && changed.output.contains(#""consent" : "\#(mode.rawValue)""#), "\(changed)")
            #expect(try consents.mode() == mode)
        }
        for words in ["consent", "consent sometimes", "consent software", "enclave never", "creator"] {
            let refused = keychain.latchkey("settings \(words)")
            #expect(refused.exit == 2 && refused.error.contains("consent never|creator|always"), "\(words)")
        }
    }

    @Test("A mode of a later version asks about everything")
    func unknownMode() throws {
        let keychain = try TestKeychain(.ephemeral)
        _ = try keychain.service.by(Self.service).add(
            ItemAddition(
                .genericPassword,
                attributes: [
                    .service: .string("org.freedesktop.Secret.Setting"), .account: .string("consent"),
                    .label: .string("weekdays"),
                ], accessGroup: "org.freedesktop.secrets"))
        #expect(keychain.latchkey("settings --json").output.contains(#""consent" : "always""#))
    }

    @Test("A program is allowed by the path that its process has; a missing one is named")
    func resolved() throws {
        let directory = try TemporaryDirectory()
        try Data().write(to: URL(filePath: "\(directory.path)/tool1.1"))
        try FileManager.default.createSymbolicLink(
            atPath: "\(directory.path)/tool", withDestinationPath: "\(directory.path)/tool1.1")
        let keychain = try TestKeychain(.ephemeral)
        let allowed = keychain.latchkey("consent allow \(directory.path)/tool")
        #expect(allowed.error == "latchkey: \(directory.path)/tool1.1 may read every item\n")
        let missing = keychain.latchkey("consent allow /nonexistent/tool")
        #expect(missing.exit == 0 && missing.error.contains("hint: there is no such program now"))
    }

    @Test("SECS-15: consents are listed with their items, and revoked for one program", arguments: Backend.allCases)
    func list(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        #expect(keychain.latchkey("consent list") == Outcome(exit: 0, output: "", error: ""))
        let reference = try Self.addConsent("/usr/bin/mail reader", keychain)
        let allowed = keychain.latchkey("consent allow /usr/bin/seahorse")
        #expect(allowed.exit == 0 && allowed.error.hasPrefix("latchkey: /usr/bin/seahorse may read every item\n"))
        // Once more is the same consent.
        #expect(keychain.latchkey("consent allow /usr/bin/seahorse").exit == 0)
        #expect(
            keychain.latchkey("consent list").output == """
                /usr/bin/mail reader\tMail\t2026-11-22T12:00:00Z
                /usr/bin/seahorse\t(every item)\t2026-11-22T12:00:00Z

                """)
        _ = try keychain.service.by(Self.service).delete(
            ItemQuery(nil, persistentReference: reference))
        #expect(keychain.latchkey("consent list").output.contains("/usr/bin/mail reader\t(deleted item)\t"))
        #expect(
            keychain.latchkey("consent forget /usr/bin/seahorse")
                == Outcome(exit: 0, output: "", error: "latchkey: 1 consent is revoked\n"))
        #expect(!keychain.latchkey("consent list").output.contains("seahorse"))
        let missing = keychain.latchkey("consent forget /usr/bin/seahorse")
        #expect(
            missing
                == Outcome(
                    exit: 44, output: "", error: "latchkey: the program has no consent\nhint: latchkey consent list\n"))
        #expect(keychain.latchkey("consent forget --all").error == "latchkey: 1 consent is revoked\n")
        #expect(keychain.latchkey("consent list").output.isEmpty)
        #expect(keychain.latchkey("consent forget --all").exit == 0)
    }

    @Test("JSON has the program, the scope and the label, but no label while the keychain is locked")
    func json() throws {
        let keychain = try TestKeychain(.ephemeral)
        _ = try Self.addConsent("/usr/bin/mail", keychain)
        func scopes() throws -> [[String: String]] {
            let text = Data(keychain.latchkey("consent list --json").output.utf8)
            return try #require(try JSONSerialization.jsonObject(with: text) as? [[String: String]])
        }
        #expect(
            try scopes() == [
                [
                    "program": "/usr/bin/mail", "scope": "item", "item": "Mail", "created": "2026-11-22T12:00:00Z",
                ]
            ])
        try keychain.service.administrator.setPasscode(SharedSecret(copying: "the passcode".utf8)) { _, _ in }
        try keychain.service.administrator.lock(immediately: true)
        #expect(
            try scopes() == [
                ["program": "/usr/bin/mail", "scope": "locked", "created": "2026-11-22T12:00:00Z"]
            ])
        #expect(keychain.latchkey("consent forget /usr/bin/mail").exit == 0)
    }

    @Test("Only a program's absolute path is accepted, and either a path or --all")
    func refused() throws {
        let keychain = try TestKeychain(.ephemeral)
        for words in ["allow seahorse", "allow /", "forget seahorse"] {
            let outcome = keychain.latchkey("consent \(words)")
            #expect(outcome.exit == 206 && outcome.error.contains("begins with /"), "\(words): \(outcome)")
        }
        for words in ["forget", "forget --all /usr/bin/seahorse"] {
            let outcome = keychain.latchkey("consent \(words)")
            #expect(outcome.exit == 2 && outcome.error.contains("--all"), "\(words): \(outcome)")
        }
    }

    @Test("The number of consents is limited: one more removes the oldest")
    func limit() throws {
        let keychain = try TestKeychain(.ephemeral)
        let consents = KeychainConsents(KeychainSession(keychain.service, as: Self.service))
        let paths = (0...KeychainConsents.maxCount).compactMap { ProgramPath("/usr/bin/\($0)") }
        try consents.add(paths.dropLast().map { Consent($0, .everyItem) })
        #expect(try consents.all().count == KeychainConsents.maxCount)
        try consents.add(paths.suffix(1).map { Consent($0, .everyItem) })
        let left = try consents.all().map(\.consent.program)
        #expect(left == Array(paths.dropFirst()))
    }
}
