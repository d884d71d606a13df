// SPDX-License-Identifier: Apache-2.0

internal import SecretMemory

// CommonRandom.h

public typealias CCRNGStatus = CCCryptorStatus

/// Fills `count` bytes from the kernel's generator (getrandom(2)).
///
/// - Returns: `kCCSuccess`; `kCCParamError` for a negative count, or a null pointer with a count
///   above 0. The generator cannot fail (`kCCRNGFailure` is never returned).
@discardableResult
public func CCRandomGenerateBytes(_ bytes: UnsafeMutableRawPointer?, _ count: Int) -> CCRNGStatus {
    guard let buffer = UnsafeMutableRawBufferPointer(checking: bytes, count: count) else {
        return status(kCCParamError)
    }
    var rest = buffer
    while !rest.isEmpty {
        // In parts, because secret memory is scarce.
        let part = UnsafeMutableRawBufferPointer(rebasing: rest.prefix(4096))
        SecretBytes.random(count: part.count).withUnsafeBytes { part.copyMemory(from: $0) }
        rest = UnsafeMutableRawBufferPointer(rebasing: rest.dropFirst(part.count))
    }
    return status(kCCSuccess)
}
