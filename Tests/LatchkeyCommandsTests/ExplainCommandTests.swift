// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import KeychainTesting
@testable import LatchkeyCommands
import Testing

/// `latchkey explain`, and where identifiers are printed.
@Suite("latchkey explain")
struct ExplainCommandTests {
    @Test("An identifier is explained, by itself, by its status and by its exit value")
    func explains() throws {
        let keychain = try TestKeychain(.ephemeral)
        let locked = keychain.latchkey("explain LK1201")
        #expect(locked.exit == 0 && locked.error.isEmpty)
        #expect(
            locked.output.hasPrefix(
                "LK1201  The keychain is locked, or you cannot be asked here\n"
                    + "status: errSecInteractionNotAllowed (-25308), exit value 36\nwhy:    "))
        #expect(keychain.latchkey("explain lk1201") == locked)
        for word in ["errSecInteractionNotAllowed", "errsecinteractionnotallowed", "-25308", "-- -25308"] {
            #expect(keychain.latchkey("explain \(word)") == locked, "\(word)")
        }
        let both = keychain.latchkey("explain 36").output
        #expect(both.contains("LK1201") && both.contains("LK1203"))
        #expect(keychain.latchkey("explain LK1101 44 errSecItemNotFound").output.hasPrefix("LK1101"))
        #expect(keychain.latchkey("explain LK1101 44").output.components(separatedBy: "LK1101").count == 2)
        let usage = keychain.latchkey("explain 2").output
        #expect(usage.hasPrefix("LK1001  The command line is not valid\nstatus: exit value 2\nwhy:    "))
    }

    @Test("An exit value that is no status is explained as well", arguments: [1, 3, 126, 127])
    func exitValues(_ value: Int) throws {
        let keychain = try TestKeychain(.ephemeral)
        let text = keychain.latchkey("explain \(value) \(value)").output
        #expect(text.hasPrefix("exit value \(value)  ") && text.contains("\nwhy:    ") && text.contains("\ndo:     "))
        #expect(text.components(separatedBy: "exit value \(value)  ").count == 2)
        let json = Data(keychain.latchkey("explain --json \(value)").output.utf8)
        let found = try #require(try JSONSerialization.jsonObject(with: json) as? [[String: Any]])
        #expect(found.count == 1 && found[0]["exitValue"] as? Int == value && found[0]["identifier"] == nil)
        #expect(found[0]["title"] is String && found[0]["cause"] is String && found[0]["steps"] is [String])
    }

    @Test("Without an error, every identifier is listed; JSON has all of it")
    func lists() throws {
        let keychain = try TestKeychain(.ephemeral)
        let lines = keychain.latchkey("explain").output.split(separator: "\n")
        #expect(lines.map { String($0.prefix(6)) } == ErrorIdentifier.allCases.map(\.description))
        #expect(keychain.latchkey("explain --").output == keychain.latchkey("explain").output)
        let text = Data(keychain.latchkey("explain --json").output.utf8)
        let all = try #require(try JSONSerialization.jsonObject(with: text) as? [[String: Any]])
        #expect(all.count == ErrorIdentifier.allCases.count)
        #expect(all.allSatisfy { $0["title"] is String && $0["cause"] is String && $0["steps"] is [String] })
        let one = Data(keychain.latchkey("explain --json LK1101").output.utf8)
        let found = try #require(try JSONSerialization.jsonObject(with: one) as? [[String: Any]])
        #expect(found.first?["status"] as? String == "errSecItemNotFound" && found.first?["exitValue"] as? Int == 44)
    }

    @Test(
        "A word that is no error is refused", arguments: ["LK9999", "0", "256", "-1", "errSecSuccess", "banana", "5"])
    func refuses(_ word: String) throws {
        let outcome = try TestKeychain(.ephemeral).latchkey("explain -- \(word)")
        #expect(outcome.exit == 206 && outcome.output.isEmpty)
        #expect(outcome.error.hasSuffix("hint: latchkey explain lists the identifiers\n"))
    }

    @Test("An option that explain does not have is no error of a table either", arguments: ["--jsn", "-x", "-2530"])
    func unknownOption(_ word: String) throws {
        let outcome = try TestKeychain(.ephemeral).latchkey("explain \(word)")
        #expect(outcome.exit != 0 && outcome.output.isEmpty && outcome.error.contains(word), "\(outcome)")
    }

    @Test("latchkey prints the identifier on a terminal and with -v; security never does")
    func printed() {
        let service = FailingService(error: KeychainError(.notAvailable, "cannot open /x", hint: "chmod 700 /x"))
        let plain = "latchkey: cannot open /x\nhint: chmod 700 /x\n"
        #expect(security("status", as: "latchkey", on: service).error == plain)
        let terminal = TestIO(isErrorInteractive: true)
        #expect(
            security("status", as: "latchkey", on: service, io: terminal).error
                == "latchkey: cannot open /x [LK1401]\nhint: chmod 700 /x\n")
        #expect(
            security("-v status", as: "latchkey", on: service).error
                == plain + "latchkey: errSecNotAvailable (-25291) [LK1401]\n")
        let macOS = security("-v lock-keychain -a", on: service, io: TestIO(isErrorInteractive: true))
        #expect(
            macOS.error == "security: cannot open /x\nhint: chmod 700 /x\nsecurity: errSecNotAvailable (-25291)\n")
    }

    @Test(
        "A command line that is not valid has an identifier as well, also an unknown command",
        arguments: ["get --bad", "bogus", "help bogus", "key xqzw", "-l --bad"])
    func usage(_ line: String) throws {
        let keychain = try TestKeychain(.ephemeral)
        let plain = keychain.latchkey(line)
        #expect(plain.error.hasPrefix("latchkey: ") && !plain.error.contains("LK"), "\(plain)")
        let terminal = keychain.latchkey(line, io: TestIO(isErrorInteractive: true))
        #expect(terminal.error.split(separator: "\n").first?.hasSuffix(" [LK1001]") == true, "\(terminal)")
        let verbose = keychain.latchkey("-v \(line)")
        #expect(verbose.exit == plain.exit)
        #expect(verbose.error.contains("latchkey: the command line is not valid [LK1001]\n"), "\(verbose)")
        let macOS = keychain.security("-v bogus", io: TestIO(isErrorInteractive: true))
        #expect(macOS.error == "security: unknown command \"bogus\"\nhint: security help\n")
    }

    @Test("An unknown option before the command is reported under the name of the program")
    func unknownProgramOption() throws {
        let keychain = try TestKeychain(.ephemeral)
        for line in ["-Z", "-v --bad", "-q --version"] {
            let outcome = keychain.latchkey(line)
            #expect(outcome.exit == 2 && outcome.error.hasPrefix("latchkey: unknown option -"), "\(outcome)")
        }
        #expect(keychain.security("-Z").error.hasPrefix("security: options: unknown option -Z\nusage: security "))
    }
}
