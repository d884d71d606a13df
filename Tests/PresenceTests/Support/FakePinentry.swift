// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import KeychainModel
import KeychainTesting
import LinuxSystem
@testable import Presence

/// A directory with a shell script in place of pinentry.
struct FakePinentry {
    let directory: TemporaryDirectory
    var path: String { "\(directory.path)/pinentry-gnome3" }

    /// Where the script is used: on a display, so that no terminal is needed.
    static let place = PromptPlace([.display: ":0"])

    /// - Parameters:
    ///   - greeting: commands that greet.
    ///   - cases: the commands for each line that is received, in the form of `case`.
    init(greeting: String = "echo OK", cases: String) throws {
        directory = try TemporaryDirectory()
        let script = """
            #!/bin/sh
            \(greeting)
            while read -r line; do
                case $line in
                    \(cases)
                    *) echo OK ;;
                esac
            done

            """
        // Another process writes the file. If this one did, a child that another test starts at the
        // same time would inherit the descriptor, and a file that is open for writing cannot run.
        let words = ["sh", "-c", "cat > \"$1\" && chmod 755 \"$1\"", "sh", path]
        let status = try Array(script.utf8).withUnsafeBytes { try ChildProcess.run(words, input: $0) }
        guard status == 0 else { throw Failure(status: status) }
    }

    struct Failure: Error { let status: Int32 }

    var method: Pinentry { Pinentry(programs: PinentryPrograms(directories: [directory.path], owner: geteuid())) }

    /// The lines of a file that the script has written.
    func lines(of name: String) throws -> [String] {
        try String(contentsOf: URL(filePath: "\(directory.path)/\(name)"), encoding: .utf8).split(separator: "\n").map(
            String.init)
    }
}
