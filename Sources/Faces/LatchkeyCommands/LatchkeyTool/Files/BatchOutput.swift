// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem

/// The output of a batch from several threads, one line at a time: it is safe because the streams are used only while
/// the lock is held.
final class BatchOutput: @unchecked Sendable {
    private let io: any CommandIO
    private let lock = SystemMutex(())
    private let dryRun: Bool
    private let isQuiet: Bool
    /// Whether progress can be shown.
    let isErrorInteractive: Bool

    init(_ io: any CommandIO, dryRun: Bool, isQuiet: Bool) {
        self.io = io
        (self.dryRun, self.isQuiet) = (dryRun, isQuiet)
        isErrorInteractive = io.isErrorInteractive
    }

    func done(_ path: FilePath, _ verb: String?) {
        guard let verb, !isQuiet else { return }
        let text: TerminalText = dryRun ? "would be \(verb): \(path)\n" : "\(verb): \(path)\n"
        lock.withLock { _ in try? io.write(text, to: .output) }
    }

    func skipped(_ path: FilePath, _ reason: String) {
        guard !isQuiet else { return }
        say("latchkey: passed over, \(reason): \(path)\n")
    }

    func failed(_ path: FilePath, _ error: KeychainError) {
        let place: TerminalText = error.problem.contains(path.description) ? "" : "\(path): "
        say("latchkey: \(place)\(error.problem)\n")
        if let hint = error.hint { say("hint: \(hint)\n") }
    }

    func say(_ text: TerminalText) { lock.withLock { _ in io.say(text) } }
}
