// SPDX-License-Identifier: Apache-2.0

/// A hash function, by its name in Apple's algorithms.
public enum HashAlgorithm: String, Sendable, CaseIterable {
    /// SHA-1 (FIPS 180-4): 20 bytes. Not collision-resistant.
    case sha1 = "SHA1"
    /// SHA-224 (FIPS 180-4): 28 bytes.
    case sha224 = "SHA224"
    /// SHA-256 (FIPS 180-4): 32 bytes.
    case sha256 = "SHA256"
    /// SHA-384 (FIPS 180-4): 48 bytes.
    case sha384 = "SHA384"
    /// SHA-512 (FIPS 180-4): 64 bytes.
    case sha512 = "SHA512"

    /// The length of a digest in bytes.
    public var byteCount: Int {
        switch self {
        case .sha1: 20
        case .sha224: 28
        case .sha256: 32
        case .sha384: 48
        case .sha512: 64
        }
    }
}
