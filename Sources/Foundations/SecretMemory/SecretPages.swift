// SPDX-License-Identifier: Apache-2.0

internal import CLatchkey
import Glibc

/// Pages for secrets, of the best kind that the kernel and the limits of the process permit.
enum SecretPages {
    /// Maps `length` zeroed bytes, a multiple of the page size.
    static func map(_ length: Int) -> UnsafeMutableRawPointer {
        let pages = secret(length) ?? anonymous(length)
        madvise(pages, length, MADV_DONTDUMP)
        // MADV_DONTFORK and not MADV_WIPEONFORK: a child that uses its parent's secrets by mistake
        // crashes instead of using zeros as a key.
        madvise(pages, length, MADV_DONTFORK)
        return pages
    }

    /// Pages of memfd_secret(2); nil if the kernel does not support it or RLIMIT_MEMLOCK is
    /// reached.
    private static func secret(_ length: Int) -> UnsafeMutableRawPointer? {
        let descriptor = latchkey_memfd_secret()
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        guard ftruncate(descriptor, off_t(length)) == 0 else { return nil }
        let pages = mmap(nil, length, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
        return pages == MAP_FAILED ? nil : pages
    }

    private static func anonymous(_ length: Int) -> UnsafeMutableRawPointer {
        let pages = mmap(nil, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let pages, pages != MAP_FAILED else {
            // Traps because a secret may only be in such memory, and a caller without memory cannot
            // continue.
            preconditionFailure("out of memory: cannot map \(length) bytes for secrets")
        }
        mlock(pages, length)  // Beyond RLIMIT_MEMLOCK the pages are not locked: they may be swapped, but not dumped.
        return pages
    }
}
