// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import OpenSSLCrypto

// Hashes by which certificates and keys are known.

extension Certificate {
    /// SHA-256 of the certificate: its fingerprint.
    public var sha256: [UInt8] { Array(SHA256.hash(data: der)) }

    /// SHA-1 of the certificate: its older fingerprint, by which Apple's tools name it.
    public var sha1: [UInt8] { Array(Insecure.SHA1.hash(data: der)) }

    /// SHA-1 of the public key as it stands there, without its algorithm: what the keychain keeps as `pkhh` and joins to a key's `klbl`.
    public var publicKeyHash: [UInt8] { Array(Insecure.SHA1.hash(data: publicKey.key)) }
}

extension SubjectPublicKeyInfo {
    /// SHA-256 of the whole SubjectPublicKeyInfo: what pins are.
    public var sha256: [UInt8] { Array(SHA256.hash(data: der)) }
}

extension [UInt8] {
    /// Two digits a byte, in lower case.
    var hexadecimal: String {
        map { String($0 >> 4, radix: 16) + String($0 & 0xF, radix: 16) }.joined()
    }
}
