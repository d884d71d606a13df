// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem

/// The progress of a batch on a terminal: files, bytes and the rate, five times a second.
final class FileProgress: Sendable {
    private struct State {
        var files = 0
        var bytes: UInt64 = 0
        var shown: UInt64 = 0
        var isShown = false
    }

    private let state = SystemMutex(State())
    private let output: BatchOutput
    private let start = BootClock.system.now()

    init(_ output: BatchOutput) { self.output = output }

    var bytes: UInt64 { state.withLock { $0.bytes } }

    func add(_ bytes: UInt64) {
        state.withLock { state in
            state.bytes += bytes
            show(&state)
        }
    }

    func fileEnded() {
        state.withLock { state in
            state.files += 1
            show(&state)
        }
    }

    func end() {
        state.withLock { state in
            if state.isShown { output.say("\r\u{1B}[K") }
        }
    }

    private func show(_ state: inout State) {
        let now = BootClock.system.now()
        guard output.isErrorInteractive, now >= state.shown + Self.interval, now > start + Self.interval else { return }
        state.shown = now
        state.isShown = true
        let seconds = Double(now - start) / 1e9
        let rate = UInt64(Double(state.bytes) / max(seconds, 0.001))
        output.say(
            "\r\u{1B}[K\(state.files) files, \(Self.text(state.bytes)), \(Self.text(rate))/s")
    }

    private static func text(_ bytes: UInt64) -> String {
        bytes < 10 << 20 ? "\(bytes >> 10) KiB" : "\(bytes >> 20) MiB"
    }

    /// A fifth of a second, in nanoseconds.
    private static let interval: UInt64 = 200_000_000
}
