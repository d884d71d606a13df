// SPDX-License-Identifier: Apache-2.0

/// What scrypt (RFC 7914) works with: the salt, and the cost, which grows as machines do.
package struct PasscodeParameters: Equatable, Sendable {
    var salt: [UInt8]
    var cost: PasscodeCost

    /// Parameters that no other passcode has.
    package static func fresh(_ cost: PasscodeCost) -> PasscodeParameters {
        PasscodeParameters(salt: .random(count: saltLength), cost: cost)
    }

    static let saltLength = 32
    static let saltLengths = 16...64
}

/// The cost of trying one passcode: `128 · 2^exponent · blockSize` bytes of memory, passed over `parallelism` times.
public struct PasscodeCost: Equatable, Sendable {
    public var exponent: UInt8
    public var blockSize: UInt32
    public var parallelism: UInt32

    package init(exponent: UInt8, blockSize: UInt32 = 8, parallelism: UInt32 = 1) {
        self.exponent = exponent
        self.blockSize = blockSize
        self.parallelism = parallelism
    }

    /// N = 2^17, r = 8, p = 1: 128 MiB. A keybag that asks for less is raised to it at the next unlock.
    public static let floor = PasscodeCost(exponent: 17)

    /// Whether a keybag with this cost should be raised to `floor`.
    package func isBelow(_ floor: PasscodeCost) -> Bool {
        work < floor.work
    }

    private var work: Double {
        Double(sign: .plus, exponent: Int(exponent), significand: 1) * Double(blockSize) * Double(parallelism)
    }

    /// The memory that a derivation takes, in bytes; only of a cost that is valid.
    package var memory: Int { 128 * Int(blockSize) << Int(exponent) }

    /// Refuses a cost of more than twice what this version writes, before any memory or time is spent on it: whoever has written it may mean to
    /// exhaust the machine.
    func validate() throws(KeybagError) {
        let isKnown = (1...20).contains(exponent) && (1...16).contains(blockSize) && (1...2).contains(parallelism)
        guard isKnown, work <= 2 * Self.floor.work, memory <= 2 * Self.floor.memory else {
            throw .damaged(
                "the passcode's cost (N = 2^\(exponent), r = \(blockSize), p = \(parallelism)) is not one that is accepted: at most twice what this version writes"
            )
        }
    }
}
