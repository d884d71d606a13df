// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import KeychainTesting
import Testing

extension ProcessProofs {
    /// Processes with a preloaded library that damages the clock.
    @Suite("A damaged clock", .enabled(if: access("/usr/bin/cc", X_OK) == 0, "needs a C compiler"))
    struct DamagedClockTests {
        /// Builds the library, and returns its path.
        private static func library(in directory: TemporaryDirectory) throws -> String {
            let library = "\(directory.path)/damaged-clock.so"
            let source = URL(filePath: #filePath).deletingLastPathComponent()
                .appending(path: "../Vectors/damaged-clock.c").path
            let outcome = try Executable.run(
                "/usr/bin/cc", ["-shared", "-fPIC", "-Wall", "-Werror", "-o", library, source], home: "")
            try #require(outcome.status == 0, "\(outcome)")
            return library
        }

        @Test(
            "A clock that fails or returns an invalid time ends no process by a trap, and items are stored and found",
            .long,
            arguments: [
                "fail", "back", "-1 0", "0 0", "0 -1", "0 1000000000", "9223372036854775807 999999999",
                "-9223372036854775808 0", "18446744073 0", "4294967296 0",
            ])
        func items(_ clock: String) throws {
            let directory = try TemporaryDirectory()
            let environment = ["LD_PRELOAD": try Self.library(in: directory), "DAMAGED_CLOCK": clock]
            // The shell reports a signal as a value from 128 on.
            func run(_ words: String..., input: String? = nil) throws -> Executable.Outcome {
                try Executable.run(
                    "/bin/sh", ["-c", "\"$@\"; exit $?", "sh", Executable.path("latchkey")] + words,
                    home: "\(directory.path)/home", environment: environment, input: input)
            }
            let added = try run("add-generic-password", "-a", "a", "-s", "s", "-w", "v")
            #expect(added.status == 0, "\(added)")
            #expect(try run("find-generic-password", "-a", "a", "-w").output == "v\n")
            #expect(try run("passcode", "set", input: "the passcode\n").status == 0)
            // A wrong passcode, and the right one: with a delay, or an error, but no trap.
            for typed in ["wrong", "the passcode"] {
                let unlocked = try run("unlock", input: "\(typed)\n")
                #expect((0..<128).contains(unlocked.status), "\(unlocked)")
            }
            for command in ["status", "doctor", "list"] {
                let outcome = try run(command)
                #expect((0..<128).contains(outcome.status), "\(command): \(outcome)")
            }
        }
    }
}
