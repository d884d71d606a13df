// SPDX-License-Identifier: Apache-2.0

internal import CLatchkey
import Glibc

/// What an executable of ours does to itself before it touches a secret. A library never does this to its host.
public enum ProcessHardening {
    /// Forbids core dumps and tracing by other processes of the same user, and has a crash print nothing of the process's memory.
    public static func apply() throws(SystemError) {
        guard latchkey_crash_silently() == 0 else { throw .last("leave crashes to the kernel") }
        guard latchkey_forbid_dumps() == 0 else { throw .last("forbid core dumps") }
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        guard setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none) == 0 else { throw .last("forbid core dumps") }
    }

    /// Whether core dumps and tracing are forbidden.
    public static var isApplied: Bool {
        latchkey_dumpable() == 0
    }
}

/// How many files a server may have open, and what its heap is like.
public enum ProcessLimits {
    /// Takes as many open files as the system allows; each connection needs one or two.
    public static func raiseOpenFiles() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = min(limit.rlim_max, maxOpenFiles)
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    /// Has the threads of the process share a few heaps. Otherwise each of many threads may keep one of its own, which never shrinks.
    public static func shareHeaps() { latchkey_share_heaps(maxHeaps) }

    private static let maxHeaps: Int32 = 4
    private static let maxOpenFiles: rlim_t = 65536
}
