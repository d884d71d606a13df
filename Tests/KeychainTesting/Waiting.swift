// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Waits until a condition is true. Tests wait for events and counts. The limit only ends a wait
/// for something that never happens; it is generous because a busy machine may stop a process for
/// many seconds.
///
/// - Parameter limit: the timeout in seconds.
/// - Returns: false if the condition is not true within the limit.
public func eventually(limit: Double = 300, _ condition: () throws -> Bool) rethrows -> Bool {
    let end = ContinuousClock.now + .seconds(limit)
    while try !condition() {
        guard ContinuousClock.now < end else { return try condition() }
        usleep(2000)
    }
    return true
}

/// The CPU time of this thread, which excludes other threads and processes.
public enum ThreadTime {
    /// The CPU time in seconds.
    public static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Returns the CPU time in seconds that `work` uses on this thread.
    public static func taken(by work: () throws -> Void) rethrows -> Double {
        let start = now
        try work()
        return now - start
    }
}
