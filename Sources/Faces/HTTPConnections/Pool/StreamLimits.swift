// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// How many streams a connection of HTTP/2 takes.
final class StreamLimits: Sendable {
    private let state = SystemMutex((maxStreams: usualMaxStreams, isDraining: false))

    /// Until the server's settings arrive.
    private static let usualMaxStreams = 100

    /// The server's limit. A server that allows none is waited for with one.
    var maxStreams: Int { state.withLock { $0.maxStreams } }
    func setMaxStreams(_ count: Int) { state.withLock { $0.maxStreams = max(1, count) } }

    /// Whether there are no further streams.
    var isDraining: Bool { state.withLock { $0.isDraining } }
    func drain() { state.withLock { $0.isDraining = true } }
}
