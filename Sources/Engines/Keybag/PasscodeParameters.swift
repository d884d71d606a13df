// SPDX-License-Identifier: Apache-2.0

/// The parameters of scrypt (RFC 7914): the salt and the cost. The cost increases as machines get faster.
package struct PasscodeParameters: Equatable, Sendable {
    var salt: [UInt8]
    var cost: PasscodeCost

    /// Returns parameters with a new random salt.
    package static func fresh(_ cost: PasscodeCost) -> PasscodeParameters {
        PasscodeParameters(salt: .random(count: saltLength), cost: cost)
    }

    static let saltLength = 32
    static let saltLengths = 16...64
}

/// The cost of trying one passcode: `128 · 2^exponent · blockSize` bytes of memory, used
/// `parallelism` times.
public struct PasscodeCost: Equatable, Sendable {
    public var exponent: UInt8
    public var blockSize: UInt32
    public var parallelism: UInt32

    package init(exponent: UInt8, blockSize: UInt32 = 8, parallelism: UInt32 = 1) {
        self.exponent = exponent
        self.blockSize = blockSize
        self.parallelism = parallelism
    }

    /// N = 2^17, r = 8, p = 1: 128 MiB. A keybag with a lower cost is raised to it at the next
    /// unlock.
    public static let floor = PasscodeCost(exponent: 17)

    /// Whether a keybag with this cost should be raised to `floor`.
    package func isBelow(_ floor: PasscodeCost) -> Bool {
        work < floor.work
    }

    private var work: Double {
        Double(sign: .plus, exponent: Int(exponent), significand: 1) * Double(blockSize) * Double(parallelism)
    }

    /// The memory that a derivation takes, in bytes. The cost must be valid.
    package var memory: Int { 128 * Int(blockSize) << Int(exponent) }

    /// Throws for more than twice the cost that this version writes, before memory or time is spent on it, because a
    /// forged cost could exhaust the machine.
    func validate() throws(KeybagError) {
        let isKnown = (1...20).contains(exponent) && (1...16).contains(blockSize) && (1...2).contains(parallelism)
        guard isKnown, work <= 2 * Self.floor.work, memory <= 2 * Self.floor.memory else {
            throw .damaged(
                "the passcode's cost (N = 2^\(exponent), r = \(blockSize), p = \(parallelism)) is not accepted: the maximum is twice the cost that this version writes"
            )
        }
    }
}
