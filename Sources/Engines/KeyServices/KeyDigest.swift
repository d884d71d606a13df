// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
internal import OpenSSLCrypto
public import SecretMemory

/// A digest by which two copies of a key's bytes are known for the same.
public enum KeyDigest {
    /// SHA-256.
    public static func of(_ secret: SharedSecret) throws(KeychainError) -> [UInt8] {
        try secret.withUnsafeBytes { (bytes) throws(KeychainError) in
            try crypto { () throws(OpenSSLError) in try HashFunction.sha256.digest(of: bytes) }
        }
    }
}
