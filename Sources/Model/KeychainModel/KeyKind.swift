// SPDX-License-Identifier: Apache-2.0

/// The type of a key (`kSecAttrKeyType`, by Apple's numbers).
public enum KeyType: Int64, Sendable {
    /// RSA.
    case rsa = 42
    /// An elliptic curve over a prime field.
    case ellipticCurve = 73
}

/// The half of a key pair (`kSecAttrKeyClass`, by Apple's numbers).
public enum KeyHalf: Int64, Sendable {
    case publicKey = 0
    case privateKey = 1
}

/// The type and the size of a key.
public struct KeyKind: Sendable, Hashable {
    /// The type.
    public let type: KeyType
    /// The length of the modulus, or of the field, in bits.
    public let bits: Int

    /// A kind of key; the size is in bits.
    public init(_ type: KeyType, bits: Int) {
        self.type = type
        self.bits = bits
    }

    /// The length of a block, or of a field element, in bytes (`SecKeyGetBlockSize`).
    public var blockLength: Int { (bits + 7) / 8 }

    /// Whether an imported key may have this size.
    public var isUsable: Bool {
        switch type {
        case .rsa: Self.rsaSizes ~= bits
        case .ellipticCurve: [192, 224, 256, 384, 521].contains(bits)
        }
    }

    /// The supported lengths of an RSA modulus, in bits.
    public static let rsaSizes = 512...8192

    /// Whether the size is weak: RSA below 2048 bits, curves below 224.
    public var isWeak: Bool { type == .rsa ? bits < 2048 : bits < 224 }

    /// Whether a new key may have this size. RSA starts at 512 bits, as Apple's does
    /// (keychain-behaviour §6.3); see ``isWeak``.
    public var canBeGenerated: Bool {
        switch type {
        case .rsa: Self.rsaSizes ~= bits && bits.isMultiple(of: 8)
        case .ellipticCurve: [224, 256, 384, 521].contains(bits)
        }
    }
}

extension KeyKind: CustomStringConvertible {
    /// `RSA-2048`, `P-256`.
    public var description: String {
        switch type {
        case .rsa: "RSA-\(bits)"
        case .ellipticCurve: "P-\(bits)"
        }
    }
}
