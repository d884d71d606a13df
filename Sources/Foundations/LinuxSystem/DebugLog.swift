// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A log of Latchkey's work in this process, on standard error, if `LATCHKEY_LOG` is `debug`. Without the variable,
/// nothing is written, and no text is made.
///
/// A line is a ``DiagnosticText``, so that the log has no secrets, names and paths, and can be sent to
/// others. Other values of the variable have no effect.
public enum DebugLog {
    /// Whether the log is written.
    public static let isEnabled = SecureEnvironment.value(of: variable) == "debug"

    /// Writes a line, if the log is enabled.
    public static func write(_ text: @autoclosure () -> DiagnosticText) {
        guard isEnabled else { return }
        emit(text())
    }

    /// Runs `body`, and writes how long it took, and how it ended.
    ///
    /// - Parameters:
    ///   - what: a description of `body`.
    ///   - outcome: returns the text for an error.
    public static func measure<Result, Failure: Error>(
        _ what: @autoclosure () -> DiagnosticText, failure outcome: (Failure) -> DiagnosticText,
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard isEnabled else { return try body() }
        let begin = BootClock.system.now()
        do throws(Failure) {
            let result = try body()
            emit("\(what()): done in \(microseconds(since: begin)) µs")
            return result
        } catch {
            emit("\(what()): \(outcome(error)) after \(microseconds(since: begin)) µs")
            throw error
        }
    }

    private static func microseconds(since begin: UInt64) -> UInt64 { (BootClock.system.now() &- begin) / 1000 }

    /// Writes a line with one call, so that the lines of several threads and processes are not mixed. A
    /// failure is ignored: there is no other place to report it.
    private static func emit(_ text: DiagnosticText) {
        let line = Array("latchkey[\(getpid())] debug: \(text)\n".utf8)
        _ = line.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    /// The name of the variable.
    public static let variable = "LATCHKEY_LOG"
}
