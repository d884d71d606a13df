// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import OpenSSLCrypto

/// The algorithms of a ``PayloadBox``: how sender and recipient agree on its key. The contents are
/// encrypted with AES-256-GCM, with keys of HKDF-SHA256.
public enum PayloadSuite: Sendable, CaseIterable {
    /// Diffie-Hellman on P-256. Its private keys can be keys of the keychain that cannot be
    /// extracted.
    case p256
    /// Diffie-Hellman on Curve25519.
    case x25519
    /// X-Wing, ML-KEM-768 with Curve25519: also secret from a future quantum computer. It cannot
    /// authenticate the sender.
    case xWing

    /// Whether the suite has the sender-authenticated mode.
    public var authenticatesSenders: Bool { self != .xWing }

    var encapsulation: HPKEKeyEncapsulation {
        switch self {
        case .p256: .p256
        case .x25519: .x25519
        case .xWing: .xWing
        }
    }

    /// The length of a public key in bytes.
    var publicKeyLength: Int {
        switch self {
        case .p256: 65
        case .x25519: X25519.byteCount
        case .xWing: 1216
        }
    }

    /// The length of an encapsulated key in bytes.
    var encapsulatedLength: Int {
        switch self {
        case .p256: 65
        case .x25519: X25519.byteCount
        case .xWing: 1120
        }
    }

    /// - Throws: errSecUnimplemented for an identifier that is not known.
    init(identifier: UInt16) throws(KeychainError) {
        guard let suite = Self.allCases.first(where: { $0.encapsulation.rawValue == identifier }) else {
            let name = String(identifier, radix: 16)
            throw KeychainError(
                .unimplemented, "the payload box has the unsupported key encapsulation 0x\(name)")
        }
        self = suite
    }
}
