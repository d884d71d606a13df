// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import KeychainTesting
import LatchkeyCommands
import Testing

/// The exit values that scripts rely on (keychain-behaviour §8.1), and the wording of failures.
@Suite("Exit values")
struct ExitValueTests {
    @Test("the exit value is the lowest byte of the status", arguments: Row.all)
    func statuses(row: Row) throws {
        let service = FailingService(error: KeychainError(row.status, hint: row.hint))
        for command in [
            "find-generic-password -w", "add-generic-password -a a -s s", "add-generic-password -U -a a -s s",
        ] {
            let outcome = security(command, on: service)
            let call =
                command.hasPrefix("find") ? "SecKeychainSearchCopyNext" : "SecKeychainItemCreateFromContent (<default>)"
            #expect(outcome.exit == row.exit)
            #expect(outcome.output.isEmpty)
            #expect(outcome.error == "security: \(call): \(row.text)\n" + (row.hint.map { "hint: \($0)\n" } ?? ""))
        }
    }

    @Test("a keychain that cannot be used is reported with its own message and hint")
    func problem() {
        let error = KeychainError(.notAvailable, "cannot open /x: Permission denied", hint: "chmod 700 /x")
        #expect(
            security("find-generic-password", on: FailingService(error: error))
                == Outcome(
                    exit: 53, output: "",
                    error:
                        "security: SecKeychainSearchCopyNext: cannot open /x: Permission denied\nhint: chmod 700 /x\n"))
        #expect(
            security("lock-keychain -a", on: FailingService(error: error))
                == Outcome(
                    exit: 53, output: "", error: "security: cannot open /x: Permission denied\nhint: chmod 700 /x\n"))
        #expect(
            security("-q lock-keychain -a", on: FailingService(error: error)).error
                == "security: cannot open /x: Permission denied\n")
        #expect(
            security("-v -q lock-keychain -a", on: FailingService(error: error)).error
                == "security: cannot open /x: Permission denied\nsecurity: errSecNotAvailable (-25291)\n")
    }

    @Test("exit values of the global options and of unknown commands", arguments: GlobalOptionsCase.all)
    func frame(row: GlobalOptionsCase) throws {
        let outcome = try TestKeychain(.ephemeral).security(row.line)
        #expect(outcome.exit == row.exit)
        #expect(outcome.output.isEmpty != row.writesOutput, "\(outcome)")
        #expect(outcome.error.isEmpty != row.writesError, "\(outcome)")
        if let text = row.error { #expect(outcome.error == text) }
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let status: OSStatusCode
        let exit: Int32
        let text: String
        let hint: String?

        init(_ status: OSStatusCode, _ exit: Int32, _ text: String? = nil, hint: String? = nil) {
            self.status = status
            self.exit = exit
            self.text = text ?? status.message ?? ""
            self.hint = hint
        }

        var testDescription: String { status.description }

        static let all = [
            Row(.interactionNotAllowed, 36, "the item is locked, and user interaction is not allowed here"),
            Row(OSStatusCode(rawValue: -25296), 48),
            Row(.noSuchKeychain, 50),
            Row(.authFailed, 51),
            Row(.readOnly, 52),
            Row(.notAvailable, 53, hint: "put the key back"),
            Row(.userCanceled, 128),
            Row(.param, 206),
            Row(.missingEntitlement, 30),
            Row(.unimplemented, 252),
            Row(.diskFull, 222, hint: "free some space"),
            Row(.invalidKeychain, 49),
            Row(.noDefaultKeychain, 37),
            Row(.decode, 93),
            Row(OSStatusCode(rawValue: -67840), 1),
        ]
    }

    struct GlobalOptionsCase: Sendable, CustomTestStringConvertible {
        let line: String
        let exit: Int32
        let writesOutput: Bool
        let writesError: Bool
        let error: String?

        init(_ line: String, _ exit: Int32, output: Bool = false, error: Bool = false, says text: String? = nil) {
            self.line = line
            self.exit = exit
            writesOutput = output
            writesError = error || text != nil
            self.error = text
        }

        var testDescription: String { line }

        static let all = [
            GlobalOptionsCase("", 2, output: true),
            GlobalOptionsCase("-h", 0, output: true),
            GlobalOptionsCase("-h find-generic-password", 0, output: true),
            GlobalOptionsCase("-z", 2, error: true),
            GlobalOptionsCase("-p", 2, error: true),
            GlobalOptionsCase("-lqv error 0", 1, output: true),
            GlobalOptionsCase("bogus", 1, says: "security: unknown command \"bogus\"\nhint: security help\n"),
            GlobalOptionsCase("-q bogus", 1, says: "security: unknown command \"bogus\"\n"),
            GlobalOptionsCase("find-generic-password -z", 2, error: true),
            GlobalOptionsCase("find-generic-password -a", 2, error: true),
            GlobalOptionsCase("find-generic-password --help", 0, output: true),
            GlobalOptionsCase("add-generic-password", 2, error: true),
            GlobalOptionsCase("delete-generic-password", 2, error: true),
            GlobalOptionsCase("error", 2, error: true),
            GlobalOptionsCase("error -25300", 1, output: true),
            GlobalOptionsCase("list-smartcards", 252, error: true),
            GlobalOptionsCase("leaks", 1, error: true),
            GlobalOptionsCase("list-keychains -d nowhere", 2, error: true),
            GlobalOptionsCase("list-keychains -d system", 0, output: true),
            GlobalOptionsCase("list-keychains -d user -s login.keychain", 0),
            GlobalOptionsCase("list-keychains -s", 252, error: true),
            GlobalOptionsCase("default-keychain -s login.keychain", 0),
            GlobalOptionsCase("default-keychain -s", 0),
            GlobalOptionsCase("default-keychain -d system", 37, error: true),
            GlobalOptionsCase("login-keychain", 0, output: true),
            GlobalOptionsCase("login-keychain a b", 2, error: true),
            GlobalOptionsCase("add-generic-password -a a -s s login.keychain default", 2, error: true),
            GlobalOptionsCase("help bogus", 1, says: "security: unknown command \"bogus\"\n"),
        ]
    }
}
