// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import KeychainTesting
import Testing

extension DaemonProofs {
    /// Logins with the PAM module pam_latchkey, by pamtester.
    @Suite("Logins", .enabled(if: LoginSystem.isPossible, LoginSystem.reason))
    struct LoginTests {
        private static let password = "Tr0ub4dor-and-3"
        private static let newPassword = "vWq7%kJh-29-Lmn"
        private static let told = "Latchkey: the keychain stays locked: its passcode is not the login password"

        /// A user with an item and a passcode.
        private func prepared(passcode: String = LoginTests.password) throws -> LoginSystem {
            let system = try LoginSystem(password: Self.password)
            #expect(try system.latchkey("set", "s/a", input: "v").status == 0)
            #expect(try system.latchkey("passcode", "set", input: "\(passcode)\n").status == 0)
            #expect(try system.latchkey("get", "s/a").status == 36)
            return system
        }

        @Test("A login with the passcode as its password unlocks the keychain, and starts latchkeyd for it")
        func right() throws {
            let system = try prepared()
            let outcome = try system.login(Self.password)
            #expect(outcome.status == 0 && !outcome.output.contains("Latchkey"), "\(outcome)")
            let status = try system.status()
            #expect(status.lock == "unlocked" && status.mode == "user" && status.wrongPasscodes == nil)
            #expect(try system.latchkey("get", "s/a").output == "v")
        }

        @Test("A wrong password is not tried as the passcode")
        func wrong() throws {
            let system = try prepared()
            #expect(try system.login("wrong").status != 0)
            #expect(try system.status().wrongPasscodes == nil && system.processes.isEmpty)
        }

        @Test("A password that is not the passcode is reported once, and counted once")
        func other() throws {
            let system = try prepared(passcode: "another passcode")
            for isFirst in [true, false, false] {
                let outcome = try system.login(Self.password)
                let printed = outcome.output + outcome.error
                #expect(outcome.status == 0 && printed.contains(Self.told) == isFirst, "\(outcome)")
            }
            #expect(try system.status().wrongPasscodes?.count == 1)
            #expect(try system.latchkey("unlock", input: "another passcode\n").status == 0)
            #expect(try system.latchkey("get", "s/a").output == "v")
        }

        @Test("A login neither causes a delay nor destroys items, however often the password changes")
        func limit() throws {
            let system = try prepared(passcode: "another passcode")
            #expect(try system.latchkey("settings", "--wipe-after-ten", input: "another passcode\n").status == 0)
            for number in 1...6 {
                #expect(try system.resetPassword(to: "Reset-\(number)-kJh29").status == 0)
                #expect(try system.login("Reset-\(number)-kJh29").status == 0)
            }
            #expect(try system.status().wrongPasscodes?.count == 4)
            #expect(try system.latchkey("unlock", input: "another passcode\n").status == 0)
        }

        @Test("With the tie, a change of the password changes the passcode; the next login unlocks")
        func tied() throws {
            let system = try prepared()
            #expect(try system.latchkey("passcode", "tie-to-login", input: "\(Self.password)\n").status == 0)
            #expect(try system.status().tiedToLogin)
            let changed = try system.changePassword(from: Self.password, to: Self.newPassword)
            #expect(changed.status == 0, "\(changed)")
            let outcome = try system.login(Self.newPassword)
            #expect(outcome.status == 0 && !outcome.output.contains("Latchkey"), "\(outcome)")
            #expect(try system.status().lock == "unlocked")
        }

        @Test("Without the tie, the passcode stays, and the next login reports it")
        func untied() throws {
            let system = try prepared()
            #expect(try system.latchkey("passcode", "tie-to-login", input: "\(Self.password)\n").status == 0)
            #expect(try system.latchkey("passcode", "untie-from-login", input: "\(Self.password)\n").status == 0)
            #expect(try system.changePassword(from: Self.password, to: Self.newPassword).status == 0)
            let outcome = try system.login(Self.newPassword)
            #expect(outcome.status == 0 && (outcome.output + outcome.error).contains(Self.told), "\(outcome)")
            #expect(try system.latchkey("unlock", input: "\(Self.password)\n").status == 0)
        }

        @Test("With the tie and another passcode, a change of the password says that the passcode stays")
        func tiedToAnother() throws {
            let system = try prepared(passcode: "another passcode")
            #expect(try system.latchkey("passcode", "tie-to-login", input: "another passcode\n").status == 0)
            let changed = try system.changePassword(from: Self.password, to: Self.newPassword)
            #expect(changed.status == 0, "\(changed)")
            #expect((changed.output + changed.error).contains("the passcode of the keychain was not changed"))
            #expect(try system.latchkey("unlock", input: "another passcode\n").status == 0)
        }

        @Test("A login of a user without a keychain creates nothing, and starts nothing")
        func withoutKeychain() throws {
            let system = try LoginSystem(password: Self.password)
            let outcome = try system.login(Self.password)
            #expect(outcome.status == 0 && !outcome.output.contains("Latchkey"), "\(outcome)")
            #expect(try system.files().isEmpty && system.processes.isEmpty)
        }

        @Test("A login starts nothing if the user's keychain has no passcode")
        func withoutPasscode() throws {
            let system = try LoginSystem(password: Self.password)
            #expect(try system.latchkey("set", "s/a", input: "v").status == 0)
            #expect(try system.login(Self.password).status == 0)
            #expect(system.processes.isEmpty)
        }

        @Test(
            "A login succeeds in time if the command is missing, hangs, crashes or fails, and leaves no process",
            arguments: [
                "", "exec sleep 600", "trap '' TERM; while :; do sleep 1; done", "kill -SEGV $$", "exit 3",
                "sleep 600 & wait", "(trap '' HUP INT TERM; sleep 600 & sleep 600) & sleep 600",
            ])
        func broken(_ lines: String) throws {
            let system = try LoginSystem(password: Self.password, lines.isEmpty ? .missing : .script(lines))
            let start = ContinuousClock.now
            let outcome = try system.login(Self.password)
            #expect(outcome.status == 0 && !outcome.output.contains("Latchkey"), "\(outcome)")
            // The timeout is 2 s.
            #expect(start.duration(to: .now) < .seconds(60))
            // The children of a script that was ended end with it.
            #expect(eventually { system.processes.isEmpty })
        }

        @Test("Signals, children and threads of the login program are not affected while it waits for the command")
        func program() throws {
            let system = try LoginSystem(password: Self.password, .script("exec sleep 600"))
            let outcome = try system.loginWithOwnProgram(Self.password)
            #expect(outcome.output == "session 0, signals 5, ends 1, own child 7, others none\n", "\(outcome)")
        }

        @Test("The password of one user is not given to the session of another, as with sudo")
        func anotherUser() throws {
            let system = try LoginSystem(password: Self.password, .script("touch \"$HOME/called\""))
            #expect(try system.loginWithOwnProgram(Self.password, sessionUser: "root").output.hasPrefix("session 0,"))
            #expect(try system.files().isEmpty && !FileManager.default.fileExists(atPath: "/root/called"))
            #expect(try system.loginWithOwnProgram(Self.password).output.hasPrefix("session 0,"))
            #expect(try system.files() == ["called"])
        }

        @Test("The command has the user's identity and groups, a clean environment, and the words on a pipe")
        func world() throws {
            let system = try LoginSystem(
                password: Self.password,
                .script(
                    "exec > \"$HOME/out\"; id -u; id -G; pwd; echo \"$0 $*\"; env | sort | cut -d= -f1 | tr '\\n' ' '; echo; "
                        + "head -c 100 | od -An -c | tr -d ' \\n'"))
            #expect(try system.login(Self.password).status == 0)
            let lines = try String(contentsOfFile: "\(system.home)/out", encoding: .utf8).split(separator: "\n")
            #expect(lines.prefix(3) == ["61952", "61952 61953", "/"])
            #expect(lines.dropFirst(3).first?.hasSuffix("/command login-password unlock") == true)
            #expect(lines.dropFirst(4).first.map { $0.contains("HOME LOGNAME") && !$0.contains("LATCHKEY") } == true)
            #expect(lines.last == "\\0\\0\\0017Tr0ub4dor-and-3")
        }
    }
}
