// SPDX-License-Identifier: Apache-2.0

/// The fingers in sequence that were read and are not enrolled ones. After five, biometry is locked
/// until the passcode has been verified.
public struct BiometryMisses: Hashable, Sendable {
    public private(set) var count = 0

    /// The number of misses that locks.
    public static let max = 5

    public init() {}

    public var isLocked: Bool { count >= Self.max }

    public mutating func recordMiss() { count = Swift.min(count + 1, Self.max) }

    /// A match ends the sequence. It does not unlock: only the passcode does.
    public mutating func recordMatch() { if !isLocked { count = 0 } }

    public mutating func recordPasscode() { count = 0 }
}
