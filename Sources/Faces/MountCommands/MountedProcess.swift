// SPDX-License-Identifier: Apache-2.0

internal import Glibc
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
                [CompanionProgram.mount.rawValue] + CommandWord.ofThisProcess().dropFirst().map(\.text),
                at: "/proc/self/exe",
                readyOption: "--ready-descriptor")
        } catch {
            throw .status(KeychainError(error))
        }
        guard !outcome.isReady else { return }
        throw .reported(outcome.status == 0 ? OSStatusCode.internalFailure.rawValue : outcome.status)
    }

    /// Tells the process that has started this one that the folder is mounted, and leaves its terminal.
    static func isReady(_ descriptor: Int32) {
        setsid()
        chdir("/")
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        for stream in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where null >= 0 { dup2(null, stream) }
        _ = write(descriptor, [1] as [UInt8], 1)
        close(descriptor)
    }
}
