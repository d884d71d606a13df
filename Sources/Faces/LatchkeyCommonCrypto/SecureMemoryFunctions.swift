// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLCrypto
internal import SecretMemory

// Functions of Darwin's <string.h> that programs with keys in memory of their own call, and that glibc lacks.

/// Compares `len` bytes, in a time that depends on their number only.
///
/// - Returns: 0 if they are equal; 1 if they are not, for a negative length, and for a null pointer
///   with a length above 0.
public func timingsafe_bcmp(_ b1: UnsafeRawPointer?, _ b2: UnsafeRawPointer?, _ len: Int) -> Int32 {
    guard let one = UnsafeRawBufferPointer(checking: b1, count: len),
        let other = UnsafeRawBufferPointer(checking: b2, count: len)
    else { return 1 }
    return ConstantTime.isEqual(one, other) ? 0 : 1
}

/// Sets `n` bytes to `c`, in a way that the optimizer cannot remove.
///
/// - Returns: 0; 22 (`EINVAL`) for a null pointer and negative lengths, with nothing written; 75 (`EOVERFLOW`) if
///   `n` exceeds `smax`, with `smax` bytes written.
@discardableResult
public func memset_s(_ s: UnsafeMutableRawPointer?, _ smax: Int, _ c: Int32, _ n: Int) -> Int32 {
    guard let s, smax >= 0, n >= 0 else { return 22 }
    let memory = UnsafeMutableRawBufferPointer(start: s, count: min(n, smax))
    // The old content is gone even if the optimizer finds that nothing reads the new one.
    SecretBytes.wipe(memory)
    let byte = UInt8(truncatingIfNeeded: c)
    if byte != 0, let start = memory.baseAddress {
        start.initializeMemory(as: UInt8.self, repeating: byte, count: memory.count)
    }
    return n > smax ? 75 : 0
}
