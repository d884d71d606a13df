// SPDX-License-Identifier: Apache-2.0

internal import Glibc

enum ProcessorTime {
    /// The processor time of this thread, in seconds.
    static var ofThread: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1_000_000_000
    }
}
