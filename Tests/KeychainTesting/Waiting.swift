// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Waits until something holds. Tests wait for events and counts: the limit only ends a wait for what never comes, and is generous because a
/// busy machine may stop a process for many seconds.
///
/// - Parameter limit: in seconds.
/// - Returns: false where it does not hold within the limit.
public func eventually(limit: Double = 300, _ condition: () throws -> Bool) rethrows -> Bool {
    let end = ContinuousClock.now + .seconds(limit)
    while try !condition() {
        guard ContinuousClock.now < end else { return try condition() }
        usleep(2000)
    }
    return true
}

/// The time that this thread has computed: what other threads and processes do meanwhile does not count.
public enum ThreadTime {
    /// In seconds.
    public static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// The seconds that `work` computes on this thread.
    public static func taken(by work: () throws -> Void) rethrows -> Double {
        let start = now
        try work()
        return now - start
    }
}
