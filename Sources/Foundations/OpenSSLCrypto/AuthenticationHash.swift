// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
internal import LinuxSystem

/// The hash functions of HTTP's digest authentication (RFC 7616).
public enum AuthenticationHash: String, Sendable, CaseIterable {
    case md5 = "MD5"
    case sha256 = "SHA-256"
    /// SHA-512 with other initial values, and 32 bytes of its output (FIPS 180-4).
    case sha512of256 = "SHA-512-256"

    /// Returns the digest in hexadecimal.
    public func hexadecimal(of bytes: [UInt8]) throws(OpenSSLError) -> String {
        var digest = [UInt8](repeating: 0, count: self == .md5 ? 16 : 32)
        let algorithm =
            switch self {
            case .md5: EVP_md5()
            case .sha256: EVP_sha256()
            case .sha512of256: EVP_sha512_256()
            }
        guard EVP_Digest(bytes, bytes.count, &digest, nil, algorithm, nil) == 1 else { throw .last("hashing") }
        return Hexadecimal.text(digest)
    }
}
