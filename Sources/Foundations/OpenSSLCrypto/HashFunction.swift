// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// A hash function of FIPS 180-4.
public enum HashFunction: Sendable, CaseIterable {
    case sha1, sha224, sha256, sha384, sha512

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

    /// Returns the digest of `bytes`.
    public func digest(of bytes: UnsafeRawBufferPointer) throws(OpenSSLError) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: byteCount)
        guard EVP_Digest(bytes.baseAddress, bytes.count, &digest, nil, algorithm, nil) == 1 else {
            throw .last("hashing")
        }
        return digest
    }

    var algorithm: OpaquePointer? {
        switch self {
        case .sha1: EVP_sha1()
        case .sha224: EVP_sha224()
        case .sha256: EVP_sha256()
        case .sha384: EVP_sha384()
        case .sha512: EVP_sha512()
        }
    }

    /// libcrypto's name.
    var name: String {
        switch self {
        case .sha1: "SHA1"
        case .sha224: "SHA224"
        case .sha256: "SHA256"
        case .sha384: "SHA384"
        case .sha512: "SHA512"
        }
    }
}
