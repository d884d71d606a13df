// SPDX-License-Identifier: Apache-2.0

internal import CLatchkey
import Glibc

/// What an executable of ours does to itself before it touches a secret. A library never does this to its host.
public enum ProcessHardening {
    /// Forbids core dumps and tracing by other processes of the same user.
    public static func apply() throws(SystemError) {
        guard latchkey_forbid_dumps() == 0 else { throw .last("forbid core dumps") }
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        guard setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none) == 0 else { throw .last("forbid core dumps") }
    }

    /// Whether core dumps and tracing are forbidden.
    public static var isApplied: Bool {
        latchkey_dumpable() == 0
    }
}
