// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
internal import OpenSSLCrypto
public import SecretMemory

/// A digest that identifies equal copies of the bytes of a key.
public enum KeyDigest {
    /// Returns the SHA-256 digest.
    public static func of(_ secret: SharedSecret) throws(KeychainError) -> [UInt8] {
        try secret.withUnsafeBytes { (bytes) throws(KeychainError) in
            try crypto { () throws(OpenSSLError) in try HashFunction.sha256.digest(of: bytes) }
        }
    }
}
