// SPDX-License-Identifier: Apache-2.0

public import Crypto
internal import FoundationEssentials
internal import KeyServices
public import KeychainModel
internal import SecretMemory

// Conversions between swift-crypto's keys and Latchkey's. Converting a key of the keychain requires
// that it is extractable; swift-crypto does not wipe its copies.

extension P256.Signing.PrivateKey {
    /// Copies an extractable key into a key of swift-crypto. The copy is not wiped.
    ///
    /// - Throws: `errSecUnimplemented` if the key is not extractable.
    public init(_ key: P256SigningKey) throws { self = try key.handle.exposed { try Self(x963Representation: $0) } }
}

extension P384.Signing.PrivateKey {
    /// Copies an extractable key into a key of swift-crypto. The copy is not wiped.
    ///
    /// - Throws: `errSecUnimplemented` if the key is not extractable.
    public init(_ key: P384SigningKey) throws { self = try key.handle.exposed { try Self(x963Representation: $0) } }
}

extension P521.Signing.PrivateKey {
    /// Copies an extractable key into a key of swift-crypto. The copy is not wiped.
    ///
    /// - Throws: `errSecUnimplemented` if the key is not extractable.
    public init(_ key: P521SigningKey) throws { self = try key.handle.exposed { try Self(x963Representation: $0) } }
}

extension P256.KeyAgreement.PrivateKey {
    /// Copies an extractable key into a key of swift-crypto. The copy is not wiped.
    ///
    /// - Throws: `errSecUnimplemented` if the key is not extractable.
    public init(_ key: P256AgreementKey) throws { self = try key.handle.exposed { try Self(x963Representation: $0) } }
}

extension P384.KeyAgreement.PrivateKey {
    /// Copies an extractable key into a key of swift-crypto. The copy is not wiped.
    ///
    /// - Throws: `errSecUnimplemented` if the key is not extractable.
    public init(_ key: P384AgreementKey) throws { self = try key.handle.exposed { try Self(x963Representation: $0) } }
}

extension P521.KeyAgreement.PrivateKey {
    /// Copies an extractable key into a key of swift-crypto. The copy is not wiped.
    ///
    /// - Throws: `errSecUnimplemented` if the key is not extractable.
    public init(_ key: P521AgreementKey) throws { self = try key.handle.exposed { try Self(x963Representation: $0) } }
}

extension SigningKey where Curve == P256Curve {
    /// Copies a key of swift-crypto into secret memory. swift-crypto's key is not wiped.
    public init(_ key: P256.Signing.PrivateKey) throws(KeychainError) {
        try self.init(KeyHandle(x963: key.x963Representation))
    }
}

extension SigningKey where Curve == P384Curve {
    /// Copies a key of swift-crypto into secret memory. swift-crypto's key is not wiped.
    public init(_ key: P384.Signing.PrivateKey) throws(KeychainError) {
        try self.init(KeyHandle(x963: key.x963Representation))
    }
}

extension SigningKey where Curve == P521Curve {
    /// Copies a key of swift-crypto into secret memory. swift-crypto's key is not wiped.
    public init(_ key: P521.Signing.PrivateKey) throws(KeychainError) {
        try self.init(KeyHandle(x963: key.x963Representation))
    }
}

extension AgreementKey where Curve == P256Curve {
    /// Copies a key of swift-crypto into secret memory. swift-crypto's key is not wiped.
    public init(_ key: P256.KeyAgreement.PrivateKey) throws(KeychainError) {
        try self.init(KeyHandle(x963: key.x963Representation))
    }
}

extension AgreementKey where Curve == P384Curve {
    /// Copies a key of swift-crypto into secret memory. swift-crypto's key is not wiped.
    public init(_ key: P384.KeyAgreement.PrivateKey) throws(KeychainError) {
        try self.init(KeyHandle(x963: key.x963Representation))
    }
}

extension AgreementKey where Curve == P521Curve {
    /// Copies a key of swift-crypto into secret memory. swift-crypto's key is not wiped.
    public init(_ key: P521.KeyAgreement.PrivateKey) throws(KeychainError) {
        try self.init(KeyHandle(x963: key.x963Representation))
    }
}

extension KeyHandle {
    fileprivate init(x963: Data) throws(KeychainError) {
        let secret = x963.sharedSecret()
        self.init(
            try secret.withUnsafeBytes { (bytes) throws(KeychainError) in
                try SoftwareKey(external: bytes, type: .ellipticCurve)
            })
    }

    /// EXPOSE: the caller asked for swift-crypto's key; the caller then owns the copy.
    fileprivate func exposed<Key>(_ make: (Data) throws -> Key) throws -> Key {
        let data = try external().withUnsafeBytes { Data($0) }
        return try make(data)
    }
}
