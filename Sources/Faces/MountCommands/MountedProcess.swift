// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyCommands
internal import LatchkeyService
internal import LinuxSystem

/// The process that serves a mounted folder in the background.
enum MountedProcess {
    /// Starts this program again with the same arguments, and returns when the folder is mounted.
    ///
    /// - Throws: the failure that the other process has reported.
    static func start(_ session: CommandSession) throws(CommandFailure) {
        let outcome: (isReady: Bool, status: Int32)
        do throws(SystemError) {
            outcome = try ChildProcess.startInBackground(
                [CommandWord(CompanionProgram.mount.rawValue).bytes]
                    + CommandWord.ofThisProcess().dropFirst().map(\.bytes),
                at: "/proc/self/exe",
                readyOption: "--ready-descriptor", closesOthers: false)
        } catch {
            throw .status(KeychainError(error))
        }
        guard !outcome.isReady else { return }
        throw .reported(outcome.status == 0 ? OSStatusCode.internalFailure.rawValue : outcome.status)
    }
}
