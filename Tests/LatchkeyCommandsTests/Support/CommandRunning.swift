// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import KeychainTesting
@_spi(Testing) import LatchkeyClient
import LatchkeyCommands
import LatchkeyOperations
import LatchkeyService

/// The exit value and the output of a command.
struct Outcome: Equatable, CustomStringConvertible {
    var exit: Int32
    var output: String
    var error: String

    /// The text that golden files contain.
    var description: String {
        "-- standard output --\n\(output)-- standard error --\n\(error)-- exit \(exit) --\n"
    }
}

extension TestKeychain {
    /// Runs a command line as the user's own command, as `security` unless another name is given.
    @discardableResult
    func security(_ words: [CommandWord], as name: CommandWord = "/usr/bin/security", io: TestIO = TestIO()) -> Outcome
    {
        run(groups: nil, executable: "/usr/bin/latchkey", isUserCommand: true) {
            Outcome(exit: LatchkeyMain.run([name] + words, io: io), io)
        }
    }

    /// Runs a line of words without spaces.
    @discardableResult
    func security(_ line: String, as name: CommandWord = "/usr/bin/security", io: TestIO = TestIO()) -> Outcome {
        security(line.split(separator: " ").map { CommandWord(String($0)) }, as: name, io: io)
    }

    @discardableResult
    func latchkey(_ line: String, io: TestIO = TestIO()) -> Outcome {
        security(line, as: "latchkey", io: io)
    }

    /// The accounts of all generic passwords, in order.
    func accounts() -> [String] {
        security("dump-keychain").output.split(separator: "\n").compactMap { line in
            line.hasPrefix("    \"acct\"<blob>=\"") ? String(line.dropFirst(18).dropLast()) : nil
        }
    }
}

/// Runs a command line on any service.
func security(
    _ line: String, as name: CommandWord = "security", on service: any KeychainService, io: TestIO = TestIO()
) -> Outcome {
    let identity = CallerIdentity(executable: "/usr/bin/latchkey", isUserCommand: true)
    return CallerContext.$current.withValue(CallerContext(identity: identity, service: service)) {
        Outcome(exit: LatchkeyMain.run([name] + line.split(separator: " ").map { CommandWord(String($0)) }, io: io), io)
    }
}

extension Outcome {
    init(exit: Int32, _ io: TestIO) {
        self.init(
            exit: exit, output: String(decoding: io.output, as: UTF8.self),
            error: String(decoding: io.error, as: UTF8.self))
    }
}
