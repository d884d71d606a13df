// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxSystem

/// Waits, for an observer, until a daemon that has ended can be there again.
final class DaemonReturn: Sendable {
    private let connector: any DaemonConnector
    private let retry: ConnectionRetry
    /// nil if the system has no more descriptors.
    private let wake = try? WakeSignal()

    init(_ connector: any DaemonConnector) {
        self.connector = connector
        retry = ConnectionRetry(path: connector.socketPath, milliseconds: Self.milliseconds)
    }

    /// Waits until another attempt makes sense, or until ``end()``.
    ///
    /// - Parameter wasAnswered: whether the daemon has answered the attempt before.
    /// - Returns: false if none does any more.
    func wait(wasAnswered: Bool) -> Bool {
        guard !connector.hasEnded else { return false }
        if wasAnswered { retry.reset() }
        if let wake { retry.wait(or: wake) } else { usleep(Self.microseconds) }
        return true
    }

    /// Ends the wait, also one that has not begun.
    func end() { wake?.raise() }

    private static let milliseconds: Int32 = 200
    private static let microseconds: UInt32 = 200_000
}
