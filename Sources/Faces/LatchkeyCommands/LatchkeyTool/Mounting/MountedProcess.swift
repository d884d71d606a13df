// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyService
internal import LinuxSystem

/// The process that serves a mounted folder in the background.
enum MountedProcess {
    /// Starts this program again with the same command, and returns when the folder is mounted.
    ///
    /// - Throws: errSecUnimplemented if the streams are not those of a process; the failure that the other process has
    ///   reported.
    static func start(_ session: CommandSession) throws(CommandFailure) {
        // Another process cannot have the streams of a test.
        guard session.io is ProcessIO else {
            throw .status(
                KeychainError(.unimplemented, "without --foreground, mount runs only from a process of its own"))
        }
        let outcome: (isReady: Bool, status: Int32)
        do throws(SystemError) {
            outcome = try ChildProcess.startInBackground(
                ([Program.latchkey.rawValue] + session.verbosityOptions).map { Array($0.utf8) }
                    + session.words.map(\.bytes),
                at: "/proc/self/exe",
                readyOption: "--ready-descriptor", closesOthers: false)
        } catch {
            throw .status(KeychainError(error))
        }
        guard !outcome.isReady else { return }
        throw .reported(outcome.status == 0 ? OSStatusCode.internalFailure.rawValue : outcome.status)
    }
}
