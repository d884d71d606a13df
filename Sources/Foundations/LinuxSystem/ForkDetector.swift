// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Tells a process from its forked children without a system call: one page that the kernel hands to a child zeroed.
///
/// It works also for fork handlers that are never called, as after a bare clone(2).
public final class ForkDetector: @unchecked Sendable {  // because the page is written once, before anybody else can see it
    private let page: UnsafeMutablePointer<UInt8>
    /// Where the kernel cannot wipe pages on fork (before Linux 4.14), the process number does, at the price of a system call.
    private let process: pid_t?

    public init() {
        let mapping = mmap(nil, Self.length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        // Traps because a process that does not know whether it was forked would use its parent's keys and connections.
        guard let mapping, mapping != MAP_FAILED else { preconditionFailure("no memory is left for a single page") }
        page = mapping.assumingMemoryBound(to: UInt8.self)
        process = madvise(mapping, Self.length, MADV_WIPEONFORK) == 0 ? nil : getpid()
        page.pointee = 1
    }

    deinit {
        munmap(page, Self.length)
    }

    /// Whether the process that made the mark is asking.
    public var isThisProcess: Bool {
        if let process { return process == getpid() }
        return page.pointee == 1
    }

    private static let length = 4096
}
