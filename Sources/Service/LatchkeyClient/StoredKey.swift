// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import KeychainSessions
public import KeyServices
internal import LatchkeyOperations
internal import LatchkeyService
public import SecretMemory

/// A private key in the keychain: this process holds its reference, and the service uses the key.
public struct StoredKey: PrivateKey {
    public let reference: PersistentReference
    public let publicKey: PublicKey
    public var kind: KeyKind { publicKey.kind }

    private let authentication: @Sendable () throws(KeychainError) -> Authentication
    private let open: @Sendable () throws(KeychainError) -> KeychainSession

    /// - Parameters:
    ///   - authentication: how each use may satisfy the access control of the key; by default the
    ///     person is asked.
    ///   - open: returns the keychain; by default that of this process.
    public init(
        _ reference: PersistentReference, publicKey: PublicKey,
        authentication: @escaping @Sendable () throws(KeychainError) -> Authentication = {
            () throws(KeychainError) in Authentication()
        },
        in open: @escaping @Sendable () throws(KeychainError) -> KeychainSession = { () throws(KeychainError) in
            try KeychainClient.session()
        }
    ) {
        self.reference = reference
        self.publicKey = publicKey
        self.authentication = authentication
        self.open = open
    }

    public func use(_ use: PrivateKeyUse, on input: UnsafeRawBufferPointer) throws(KeychainError) -> SharedSecret {
        let input = SharedSecret(SecretBytes(copying: try preparedInput(input, use)))
        return try open().useKey(reference, use, on: input, authentication: try authentication()).bytes
    }

    /// Returns the part of the input that the operation uses. An input that is too long is rejected
    /// before it is sent.
    private func preparedInput(_ input: UnsafeRawBufferPointer, _ use: PrivateKeyUse) throws(KeychainError)
        -> UnsafeRawBufferPointer
    {
        // ECDSA uses the leftmost bits of a digest that is longer than the order.
        if use == .signECDSA { return UnsafeRawBufferPointer(rebasing: input.prefix(kind.blockLength)) }
        let maxLength = use == .attest ? EnclaveKey.maxRequestLength : 2 * kind.blockLength + 1
        guard input.count <= maxLength else {
            throw .parameter("the input is too long for a key of the kind \(kind)")
        }
        return input
    }

    /// Returns the external representation.
    ///
    /// - Throws: errSecUnimplemented if the key may not be extracted.
    public func external() throws(KeychainError) -> SharedSecret {
        try open().exportKey(reference, authentication: try authentication()).bytes
    }
}
