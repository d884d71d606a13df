// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import KeychainTesting
import LatchkeyOperations
import LatchkeyService
import SecretMemory
import SecurityKeyPresence
@testable import SecurityKeyTesting
import Testing

/// The commands of `latchkey security-key`, with a software authenticator.
@Suite("latchkey security-key")
struct SecurityKeyCommandTests {
    let device = SoftwareAuthenticator()
    let person = ScriptedPerson()

    private func keychain() throws -> TestKeychain {
        person.use(ConnectedSecurityKeys { [device] in [device.key] })
        let keychain = try TestKeychain(.daemon, person: person)
        try keychain.service.administrator.setPasscode(SharedSecret(copying: "the passcode".utf8)) { _, _ in }
        return keychain
    }

    private func latchkey(_ line: String, _ keychain: TestKeychain) -> Outcome {
        keychain.latchkey("security-key \(line)", io: TestIO(answers: ["the passcode"]))
    }

    @Test("A key is enrolled, listed and removed by its name")
    func life() throws {
        let keychain = try keychain()
        let enrolled = latchkey("enroll --user-presence blue", keychain)
        #expect(enrolled.exit == 0 && enrolled.output.isEmpty)
        #expect(enrolled.error.hasSuffix("latchkey: the security key blue is enrolled\n"))
        #expect(latchkey("list", keychain).output == "blue\t2026-11-22T12:00:00Z\tsecurityKey, userPresence\n")
        let json = latchkey("list --json", keychain).output
        for part in [#""name" : "blue""#, #""satisfiesUserPresence" : true"#, #""identifier" : ""#] {
            #expect(json.contains(part), "\(part)")
        }
        let dryRun = latchkey("remove --dry-run blue", keychain)
        #expect(dryRun.error == "latchkey: the security key would be removed; 0 items require it\n")
        #expect(try keychain.service.administrator.securityKeys().count == 1)
        #expect(latchkey("remove blue", keychain).exit == 0)
        #expect(latchkey("list", keychain).output.isEmpty)
    }

    @Test("A key that an item requires is removed only by force")
    func required() throws {
        let keychain = try keychain()
        #expect(latchkey("enroll blue", keychain).exit == 0)
        let added = keychain.security("add-generic-password -s bank -a a -w v --access-control securityKey")
        #expect(added.exit == 0, "\(added)")
        let refused = latchkey("remove blue", keychain)
        #expect(refused.exit != 0 && refused.error.contains("1 item opens only with this security key"))
        let json = latchkey("remove --dry-run --json blue", keychain).output
        #expect(json.contains(#""items" : 1"#) && json.contains(#""removed" : false"#))
        #expect(latchkey("remove --force blue", keychain).error.hasSuffix("1 item was deleted\n"))
    }

    @Test("An unknown name, and a wrong passcode, change nothing")
    func refused() throws {
        let keychain = try keychain()
        #expect(latchkey("enroll blue", keychain).exit == 0)
        let unknown = latchkey("remove red", keychain)
        #expect(unknown.exit == 44)
        #expect(unknown.error.contains("hint: latchkey security-key list"))
        let wrong = keychain.latchkey("security-key remove blue", io: TestIO(answers: ["another passcode"]))
        #expect(wrong.exit != 0)
        #expect(try keychain.service.administrator.securityKeys().map(\.name) == ["blue"])
    }
}
