// SPDX-License-Identifier: Apache-2.0

/// The hash functions with a state in the caller's memory: those of FIPS 180-4, and MD5 (RFC 1321). MD5 is insecure.
/// Use ``HashFunction`` for everything else.
public enum DigestFunction: UInt32, Sendable, CaseIterable {
    // 0 is reserved for a state that was never started.
    case md5 = 1
    case sha1, sha224, sha256, sha384, sha512

    /// The length of a digest in bytes.
    public var byteCount: Int {
        switch self {
        case .md5: 16
        case .sha1: 20
        case .sha224: 28
        case .sha256: 32
        case .sha384: 48
        case .sha512: 64
        }
    }

    /// The length of a block in bytes.
    public var blockByteCount: Int {
        switch self {
        case .md5, .sha1, .sha224, .sha256: 64
        case .sha384, .sha512: 128
        }
    }
}
