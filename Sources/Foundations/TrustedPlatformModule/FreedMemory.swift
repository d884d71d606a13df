// SPDX-License-Identifier: Apache-2.0

internal import CTSS2
internal import LinuxSystem

/// Has the C library overwrite freed memory while tpm2-tss may free secrets: it copies parameters, and
/// a session keeps the authorization value that was used last. Its contexts and sessions are large
/// enough; blocks below about a KiB stay as they are.
///
/// Not for longer than that: each allocation is overwritten as well. For the 128 MiB of a passcode's derivation, this
/// takes 25 ms.
enum FreedMemory {
    private static let uses = SystemMutex(0)

    /// Begins, until as many calls of ``endOverwriting()``.
    static func beginOverwriting() {
        uses.withLock { uses in
            uses += 1
            if uses == 1 { CTSS2_overwrite_freed(1) }
        }
    }

    static func endOverwriting() {
        uses.withLock { uses in
            uses -= 1
            if uses == 0 { CTSS2_overwrite_freed(0) }
        }
    }
}
