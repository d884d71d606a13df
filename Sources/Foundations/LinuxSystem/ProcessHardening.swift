// SPDX-License-Identifier: Apache-2.0

internal import CLatchkey
import Glibc

/// Hardens the process of an executable before it handles a secret. A library never does this to
/// its host.
public enum ProcessHardening {
    /// Forbids core dumps and tracing by other processes of the same user, and prevents a crash
    /// from printing memory of the process, and a file from getting the number of a standard stream.
    public static func apply() throws(SystemError) {
        try openStandardStreams()
        guard latchkey_crash_silently() == 0 else { throw .last("restore the default signal handlers") }
        guard latchkey_forbid_dumps() == 0 else { throw .last("forbid core dumps") }
        try setCoreLimit(0)
    }

    /// Gives a program that this process runs for a person the limit of core dumps that the process itself
    /// was started with. A process that is not dumpable has none with any limit (prctl(2)).
    static func restoreCoreLimit() {
        guard let limit = coreLimit.withLock({ $0 }) else { return }
        try? setCoreLimit(limit)
    }

    /// The soft limit before ``apply()``, in bytes; nil before the first call.
    private static let coreLimit = SystemMutex<rlim_t?>(nil)

    private static func setCoreLimit(_ bytes: rlim_t) throws(SystemError) {
        let resource = __rlimit_resource_t(RLIMIT_CORE.rawValue)
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { throw .last("read the limit of core dumps") }
        coreLimit.withLock { if $0 == nil { $0 = limit.rlim_cur } }
        limit.rlim_cur = min(bytes, limit.rlim_max)
        guard setrlimit(resource, &limit) == 0 else { throw .last("forbid core dumps") }
    }

    /// Opens `/dev/null` in the place of closed standard streams: the next file to be opened, such as a database, would
    /// otherwise get the program's output.
    private static func openStandardStreams() throws(SystemError) {
        for stream in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(stream, F_GETFD) < 0 {
            // The lowest free number is this one, because those below are open.
            guard open("/dev/null", O_RDWR) >= 0 else { throw .last("open", path: "/dev/null") }
        }
    }
}

/// The limits of this process.
public enum ProcessLimits {
    /// Raises the number of open files to the system's limit; each connection needs one or two.
    public static func raiseOpenFiles() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = min(limit.rlim_max, maxOpenFiles)
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    /// Limits the number of heaps that the threads share. Otherwise each of many threads may keep a heap that never
    /// shrinks.
    public static func shareHeaps() { latchkey_share_heaps(maxHeaps) }

    /// Limits the addresses of the process, in bytes. What needs more fails.
    public static func limitMemory(to bytes: UInt64) throws(SystemError) {
        var limit = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_AS.rawValue)
        guard getrlimit(resource, &limit) == 0 else { throw .last("read the limit of memory") }
        limit.rlim_cur = min(limit.rlim_max, rlim_t(bytes))
        guard setrlimit(resource, &limit) == 0 else { throw .last("limit the memory") }
    }

    /// Ends the process when it has used more processor time, unless it is called again before.
    public static func endAfter(processorSeconds seconds: Int) {
        var timer = itimerval(it_interval: timeval(), it_value: timeval(tv_sec: seconds, tv_usec: 0))
        // The signal of this timer ends a process that does not handle it (setitimer(2)).
        setitimer(__itimer_which_t(ITIMER_PROF.rawValue), &timer, nil)
    }

    private static let maxHeaps: Int32 = 4
    private static let maxOpenFiles: rlim_t = 65536
}
