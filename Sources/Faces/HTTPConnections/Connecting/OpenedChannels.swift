// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem
internal import NIOCore

/// The channels of an attempt to connect, one for each address, so that it can be cancelled.
final class OpenedChannels: Sendable {
    private let state = SystemMutex((channels: [any Channel](), isCancelled: false))

    /// Returns whether the attempt goes on.
    func add(_ channel: any Channel) -> Bool {
        state.withLock { state in
            if !state.isCancelled { state.channels.append(channel) }
            return !state.isCancelled
        }
    }

    func cancel() {
        let channels = state.withLock { state in
            state.isCancelled = true
            defer { state.channels = [] }
            return state.channels
        }
        for channel in channels { channel.close(promise: nil) }
    }
}
