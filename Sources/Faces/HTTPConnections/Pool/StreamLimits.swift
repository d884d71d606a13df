// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// How many streams a connection of HTTP/2 takes.
final class StreamLimits: Sendable {
    private let state = SystemMutex((maxStreams: 1, isDraining: false, lastStream: Int.max))

    /// The number for a server without a limit in its settings (RFC 9113, section 6.5.2).
    static let usualMaxStreams = 100

    /// The server's limit; one until its settings arrive, because some servers end the connection for
    /// streams beyond a limit that they have not yet sent. A server that allows none is waited for with
    /// one.
    var maxStreams: Int { state.withLock { $0.maxStreams } }
    func setMaxStreams(_ count: Int) { state.withLock { $0.maxStreams = max(1, count) } }

    /// Whether there are no further streams.
    var isDraining: Bool { state.withLock { $0.isDraining } }
    func drain() { state.withLock { $0.isDraining = true } }

    /// The server takes no further streams, and processes none beyond the last (GOAWAY).
    func drain(after lastStream: Int) {
        state.withLock { ($0.isDraining, $0.lastStream) = (true, min($0.lastStream, lastStream)) }
    }

    /// Whether the server has said that it does not process the stream.
    func isUnprocessed(_ stream: Int) -> Bool { state.withLock { stream > $0.lastStream } }
}
