// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import KeychainModel
internal import LatchkeyService
internal import LinuxSystem

extension KeychainClient {
    /// Starts the user's own latchkeyd to keep keychains unlocked for the processes that follow, if no daemon serves
    /// this process. Two processes that do so at once start one.
    ///
    /// `LATCHKEY_NO_DAEMON=1` forbids it. Without the program, in this installation or in one with its commands in
    /// PATH, nothing is done.
    ///
    /// - Throws: errSecNotAvailable if the daemon does not start.
    public static func startDaemonIfMissing() throws(KeychainError) {
        guard CallerContext.current == nil, !forbidsDaemon, environment("LATCHKEY_EPHEMERAL") != "1",
            try ProcessService.daemon() == nil, let program = daemonProgram
        else { return }
        let home = try home()
        let lock: FileLock
        do throws(SystemError) {
            let state = try PrivateDirectory(creating: home.stateDirectory)
            lock = try FileLock(state.appending("start.lock"))
        } catch {
            throw KeychainError(error)
        }
        defer { withExtendedLifetime(lock) {} }
        try start(program)
        // The keychains that this process has opened itself belong to the daemon now.
        close()
    }

    /// Whether the environment forbids to start a daemon.
    public static var forbidsDaemon: Bool { environment("LATCHKEY_NO_DAEMON") == "1" }

    private static func start(_ program: String) throws(KeychainError) {
        // Another process may have started it while this one waited.
        guard ((try? ProcessService.daemon()) ?? nil) == nil else { return }
        let outcome: (isReady: Bool, status: Int32)
        do throws(SystemError) {
            outcome = try ChildProcess.startInBackground(
                [program, "--user", "--on-demand", "--log-level", "error"].map { Array($0.utf8) }, at: program,
                readyOption: "--ready-descriptor", closesOthers: true)
        } catch {
            throw KeychainError(error)
        }
        guard outcome.isReady else {
            throw KeychainError(
                .notAvailable, "\(program) did not start, and ended with \(outcome.status)",
                hint: "latchkey daemon --user tells why; LATCHKEY_NO_DAEMON=1 works without it")
        }
    }

    /// The program of this installation, or of the first one with its commands in a directory of PATH.
    private static var daemonProgram: String? {
        let path = (environment("PATH") ?? "").split(separator: ":").filter { $0.hasPrefix("/") }
        let installations = [Installation.current].compactMap { $0 } + path.map { Installation(of: "\($0)/latchkey") }
        return installations.lazy.compactMap { $0.program("latchkeyd") }.first
    }
}

private func environment(_ name: String) -> String? { SecureEnvironment.value(of: name) }
