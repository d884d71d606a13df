// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import OpenSSLCrypto
internal import SecretMemory

/// `…OAEP<hash>AESGCM` (keychain-behaviour §6.2): a session key under OAEP, then the plaintext
/// under AES-GCM with a vector of 16 zeros. The external representation of the public key is the
/// additional data. A session key is used once.
struct RSAHybrid {
    private let hash: HashAlgorithm
    private let kind: KeyKind

    init(_ hash: HashAlgorithm, _ kind: KeyKind) {
        self.hash = hash
        self.kind = kind
    }

    /// AES-128 for keys below 4096 bits, AES-256 for others.
    static func sessionKeyLength(_ kind: KeyKind) -> Int { kind.bits < 4096 ? 16 : 32 }

    func sealed(_ plaintext: UnsafeRawBufferPointer, for key: PublicKey) throws(KeychainError) -> [UInt8] {
        let session = SecretBytes.random(count: Self.sessionKeyLength(kind))
        return try session.withUnsafeBytes { (session) throws(KeychainError) in
            let wrapped = try crypto { () throws(OpenSSLError) in
                try key.key.encrypted(session, padding: .oaep(hash.function))
            }
            return wrapped + (try SessionCipher.seal(plaintext, key: session, authenticating: key.external))
        }
    }

    func opened(_ ciphertext: UnsafeRawBufferPointer, by key: some PrivateKey) throws(KeychainError) -> SharedSecret {
        guard ciphertext.count >= kind.blockLength + AESGCM.tagLength else { throw SoftwareKey.decryptionFailed }
        let wrapped = UnsafeRawBufferPointer(rebasing: ciphertext.prefix(kind.blockLength))
        let session = try key.use(.decryptOAEP(hash), on: wrapped)
        guard session.count == Self.sessionKeyLength(kind) else { throw SoftwareKey.decryptionFailed }
        let external = try key.publicKey.external
        return try session.withUnsafeBytes { (session) throws(KeychainError) in
            let body = UnsafeRawBufferPointer(rebasing: ciphertext.dropFirst(kind.blockLength))
            return try SessionCipher.open(body, key: session, authenticating: external)
        }
    }
}

/// AES-GCM under a key that is used once, with a vector of 16 bytes.
enum SessionCipher {
    static func seal(
        _ plaintext: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer, vector: UnsafeRawBufferPointer? = nil,
        authenticating data: [UInt8]
    ) throws(KeychainError) -> [UInt8] {
        try withIV(vector) { (vector) throws(KeychainError) in
            try crypto { () throws(OpenSSLError) in
                try AESGCM.seal(plaintext, key: key, vector: vector, authenticating: data)
            }
        }
    }

    static func open(
        _ sealed: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer, vector: UnsafeRawBufferPointer? = nil,
        authenticating data: [UInt8]
    ) throws(KeychainError) -> SharedSecret {
        try withIV(vector) { (vector) throws(KeychainError) in
            let opened = try crypto { () throws(OpenSSLError) in
                try AESGCM.open(sealed, key: key, vector: vector, authenticating: data)
            }
            guard let opened else { throw SoftwareKey.decryptionFailed }
            return opened
        }
    }

    private static func withIV<Result>(
        _ vector: UnsafeRawBufferPointer?, _ body: (UnsafeRawBufferPointer) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        if let vector { return try body(vector) }
        return try [UInt8](repeating: 0, count: 16).withContiguousBytes(body)
    }
}
