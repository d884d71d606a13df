// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import KeychainModel

// The digest algorithms of messages.

extension HashAlgorithm {
    /// The algorithm that an identifier names; nil if it is not supported, as MD5 is not.
    init?(digest: AlgorithmIdentifier) {
        // RFC 5754, section 2: absent, and NULL is accepted.
        guard digest.hasNoParameters,
            let known = Self.allCases.first(where: { $0.digestIdentifier == digest.algorithm })
        else { return nil }
        self = known
    }

    var digestIdentifier: ObjectIdentifier {
        switch self {
        case .sha1: .digestSHA1
        case .sha224: .digestSHA224
        case .sha256: .digestSHA256
        case .sha384: .digestSHA384
        case .sha512: .digestSHA512
        }
    }

    /// Whether two contents with one digest can be made, so that a signature of one is also one of
    /// the other.
    var isWeak: Bool { self == .sha1 }

    /// `SHA-256`.
    var displayName: String { "SHA-" + rawValue.dropFirst(3) }
}
