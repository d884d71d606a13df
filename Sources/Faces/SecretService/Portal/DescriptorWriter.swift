// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxSystem
internal import SecretMemory
internal import SystemBus

/// Writes a short secret to a pipe or a socket of another program. The program may never read it.
enum DescriptorWriter {
    /// - Returns: false if the descriptor does not take the bytes within five seconds.
    static func write(_ secret: SharedSecret, to descriptor: BusDescriptor) -> Bool {
        var entry = pollfd(fd: descriptor.rawValue, events: Int16(POLLOUT), revents: 0)
        // A pipe that is ready takes a page (pipe(7), PIPE_BUF), and so this write does not block.
        guard poll(&entry, 1, timeout) > 0, entry.revents & Int16(POLLOUT) != 0 else { return false }
        let number = fcntl(descriptor.rawValue, F_DUPFD_CLOEXEC, 3)
        guard number >= 0 else { return false }
        let copy = OwnedDescriptor(adopting: number)
        do throws(SystemError) {
            // EXPOSE: the secret is for the program at the other end.
            try secret.withUnsafeBytes { (bytes) throws(SystemError) in try ChildProcess.send(bytes, to: copy) }
            return true
        } catch {
            return false
        }
    }

    /// In milliseconds.
    private static let timeout: Int32 = 5000
}
