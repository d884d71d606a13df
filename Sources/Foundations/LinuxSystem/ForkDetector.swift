// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Detects a forked child without a system call, with a page that the kernel zeroes in the child.
///
/// It also works if no fork handlers are called, as after a direct clone(2).
public final class ForkDetector: @unchecked Sendable {  // because the page is written once, before other threads see it
    private let page: UnsafeMutablePointer<UInt8>
    /// The process ID, to compare with a system call if the kernel cannot wipe pages on fork (before Linux 4.14).
    private let process: pid_t?

    public init() {
        let mapping = mmap(nil, Self.length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        // Traps because a process that cannot detect a fork would use its parent's keys and
        // connections.
        guard let mapping, mapping != MAP_FAILED else { preconditionFailure("out of memory: cannot map a single page") }
        page = mapping.assumingMemoryBound(to: UInt8.self)
        process = madvise(mapping, Self.length, MADV_WIPEONFORK) == 0 ? nil : getpid()
        page.pointee = 1
    }

    deinit {
        munmap(page, Self.length)
    }

    /// Whether the calling process is the one that created the detector.
    public var isThisProcess: Bool {
        if let process { return process == getpid() }
        return page.pointee == 1
    }

    private static let length = 4096
}
