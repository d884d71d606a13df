// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// A source of random bytes. There is only one.
public final class SecRandom: NSObject, Sendable {}

/// A source of random bytes; see ``kSecRandomDefault``.
public typealias SecRandomRef = SecRandom

/// The kernel's random number generator.
public let kSecRandomDefault: SecRandomRef? = nil

/// Fills `bytes` with `count` random bytes from the kernel (getrandom(2)).
///
/// - Returns: 0; errSecParam for a negative count.
@discardableResult
public func SecRandomCopyBytes(_ rnd: SecRandomRef?, _ count: Int, _ bytes: UnsafeMutableRawPointer) -> Int32 {
    guard count >= 0 else { return errSecParam }
    RandomBytes.fill(UnsafeMutableRawBufferPointer(start: bytes, count: count))
    return errSecSuccess
}
