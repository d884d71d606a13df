// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import KeychainModel
internal import LinuxSystem
internal import SecretMemory

/// Clears the clipboard later, in a process of its own. The process gets the secret through a pipe to recognize it.
enum ClipboardClearing {
    /// Starts the process. It ends without effect if it gets no secret.
    ///
    /// - Parameters:
    ///   - terminal: the terminal with the clipboard to clear; nil for a program.
    /// - Throws: errSecNotAvailable if it cannot be started.
    static func start(_ clipboard: Clipboard, seconds: Int, terminal: CommandStream?) throws(CommandFailure)
        -> OwnedDescriptor
    {
        do throws(SystemError) {
            return try ChildProcess.startInBackground(
                "/proc/self/exe",
                ["latchkey", "copy", "--clear", "--using", clipboard.rawValue, "--timeout", "\(seconds)"],
                output: terminal.map(ProcessIO.descriptor))
        } catch {
            throw .status(
                KeychainError(
                    .notAvailable, "the process that clears the clipboard did not start: \(error.description)",
                    hint: "--timeout 0 copies without clearing"))
        }
    }

    /// Passes the secret to the process. The time of the process begins when the descriptor is closed.
    static func send(_ secret: SharedSecret, to process: borrowing OwnedDescriptor) throws(CommandFailure) {
        do throws(SystemError) {
            // EXPOSE: to a process of this program that compares the clipboard with it.
            try secret.withUnsafeBytes { (bytes) throws(SystemError) in try ChildProcess.send(bytes, to: process) }
        } catch {
            throw .status(
                KeychainError(
                    .notAvailable,
                    "the process that clears the clipboard failed, and nothing was copied: \(error.description)",
                    hint: "--timeout 0 copies without clearing"))
        }
    }

    /// The work of the process: waits, and clears the clipboard if it still contains the secret, or
    /// if it cannot be read.
    static func run(_ clipboard: Clipboard, seconds: Int, in session: CommandSession) throws(CommandFailure) {
        let secret = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            try SecretInput.read("-", maxCount: SecretInput.maxSecretCount)
        }
        guard secret.count > 0 else { return }
        var left = UInt32(clamping: seconds)
        while left > 0 { left = sleep(left) }
        guard clipboard != .osc52 else { return try session.write(Clipboard.terminalClearSequence) }
        guard holds(secret, clipboard) else { return }
        do throws(SystemError) {
            _ = try ChildProcess.run(clipboard.clearCommand, input: UnsafeRawBufferPointer(start: nil, count: 0))
        } catch {
            throw .status(KeychainError(.io, error.description))
        }
    }

    /// Whether the clipboard contains the secret. A clipboard that cannot be read, or not within the
    /// timeout, counts as containing it.
    private static func holds(_ secret: SharedSecret, _ clipboard: Clipboard) -> Bool {
        let content = SecretBuffer(count: secret.count + 1)
        return content.withUnsafeMutableBytes { buffer in
            do throws(SystemError) {
                let found = try ChildProcess.run(clipboard.pasteCommand, readingInto: buffer, timeout: pasteTimeout)
                // The programs fail if there is no text, or no display: nothing is to be cleared.
                guard found.status == 0 else { return false }
                return secret
                    == SharedSecret(
                        SecretBytes(copying: UnsafeRawBufferPointer(rebasing: buffer.prefix(found.count))))
            } catch {
                return true
            }
        }
    }

    /// In milliseconds.
    private static let pasteTimeout: Int32 = 10_000
}
