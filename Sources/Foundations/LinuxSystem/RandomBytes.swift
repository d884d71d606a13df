// SPDX-License-Identifier: Apache-2.0

internal import CLatchkey

/// Random bytes from the kernel's generator, getrandom(2).
public enum RandomBytes {
    /// Fills `buffer` with random bytes.
    ///
    /// getrandom without flags cannot fail on a valid buffer (getrandom(2), "Errors": only EFAULT,
    /// EINTR and EINVAL remain, and the shim repeats after EINTR). If it fails nevertheless, the
    /// process is stopped, because the keys would be predictable.
    public static func fill(_ buffer: UnsafeMutableRawBufferPointer) {
        guard let base = buffer.baseAddress, buffer.count > 0 else { return }
        precondition(latchkey_getrandom(base, buffer.count) == 0, "getrandom(2) failed")
    }

    /// Returns `count` random bytes that are not secret, for identifiers, names and nonces.
    public static func array(count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            fill(UnsafeMutableRawBufferPointer(buffer))
            filled = count
        }
    }

    /// Returns `count` random bytes as lower-case hexadecimal digits.
    public static func hexadecimal(count: Int) -> String { Hexadecimal.text(array(count: count)) }
}
