// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import LinuxSystem

/// When the parts of a connection began and ended.
final class ConnectionClock: Sendable {
    private let times = SystemMutex(HTTPTimes())

    var value: HTTPTimes { times.withLock { $0 } }

    /// - Parameter change: gets the current time.
    func set(_ change: (inout HTTPTimes, Date) -> Void) {
        let now = Date()
        times.withLock { change(&$0, now) }
    }
}
