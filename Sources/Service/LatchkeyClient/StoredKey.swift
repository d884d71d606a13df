// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import KeyServices
public import LatchkeyService
public import SecretMemory

/// A private key that lies in the keychain: this process holds its reference, and the service uses it.
public struct StoredKey: PrivateKey {
    public let reference: PersistentReference
    public let publicKey: PublicKey
    public var kind: KeyKind { publicKey.kind }

    private let open: @Sendable () throws(KeychainError) -> any KeychainService

    /// - Parameter open: finds the keychain; that of this process where none is given.
    public init(
        _ reference: PersistentReference, publicKey: PublicKey,
        in open: @escaping @Sendable () throws(KeychainError) -> any KeychainService = { () throws(KeychainError) in
            try KeychainClient.service()
        }
    ) {
        self.reference = reference
        self.publicKey = publicKey
        self.open = open
    }

    public func use(_ use: PrivateKeyUse, on input: UnsafeRawBufferPointer) throws(KeychainError) -> SharedSecret {
        let input = SharedSecret(SecretBytes(copying: input))
        return try open().useKey(reference, use, on: input, from: KeychainClient.caller).bytes
    }

    /// The external representation.
    ///
    /// - Throws: errSecUnimplemented where the key may not be extracted.
    public func external() throws(KeychainError) -> SharedSecret {
        try open().exportKey(reference, from: KeychainClient.caller).bytes
    }
}
