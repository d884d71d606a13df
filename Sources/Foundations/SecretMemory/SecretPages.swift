// SPDX-License-Identifier: Apache-2.0

internal import CLatchkey
import Glibc

/// Pages for secrets, of the best kind that this kernel and this process's limits allow.
enum SecretPages {
    /// Maps `length` zeroed bytes, a multiple of the page size.
    static func map(_ length: Int) -> UnsafeMutableRawPointer {
        let pages = secret(length) ?? anonymous(length)
        madvise(pages, length, MADV_DONTDUMP)
        // DONTFORK and not WIPEONFORK: a child that touches its parent's secrets by mistake is stopped instead of using zeros as a key.
        madvise(pages, length, MADV_DONTFORK)
        return pages
    }

    /// memfd_secret(2); nil where the kernel has none or RLIMIT_MEMLOCK is reached.
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
            // Traps because a secret must not be in other memory, and without memory the caller cannot continue.
            preconditionFailure("no memory is left for \(length) bytes of secrets")
        }
        mlock(pages, length)  // Beyond RLIMIT_MEMLOCK the pages stay unlocked: they may be swapped, but are not dumped.
        return pages
    }
}
