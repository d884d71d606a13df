// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import KeychainSessions
public import KeyServices
internal import LatchkeyOperations
internal import LatchkeyService
public import SecretMemory
internal import Synchronization

/// A key of a Secure Enclave that searches do not find. Unless its representation was read, it is
/// deleted with the last reference to it, as a key in memory is.
public final class UnnamedEnclaveKey: PrivateKey {
    private let key: StoredKey
    private let open: @Sendable () throws(KeychainError) -> KeychainSession
    private let isKept: Atomic<Bool>

    public var publicKey: PublicKey { key.publicKey }
    public var kind: KeyKind { key.kind }

    /// Creates a key.
    ///
    /// - Parameters:
    ///   - half: its protection class and its access control.
    ///   - authentication: how each use may satisfy the access control.
    ///   - open: returns the keychain.
    /// - Throws: errSecUnimplemented if there is no Secure Enclave.
    public init(
        creating half: ItemAddition, authentication: @escaping @Sendable () throws(KeychainError) -> Authentication,
        in open: @escaping @Sendable () throws(KeychainError) -> KeychainSession
    ) throws(KeychainError) {
        var half = half
        half.attributes[.tokenIdentifier] = .string(EnclaveKind.requested)
        half.attributes[.isPermanent] = .number(0)
        half.authentication = try authentication()
        let made = try open().generateKey(KeyGeneration(EnclaveKey.kind, privateHalf: half))
        key = StoredKey(
            made.privateHalf.persistentReference, publicKey: try Self.publicKey(made.publicKey),
            authentication: authentication, in: open)
        self.open = open
        isKept = Atomic(false)
    }

    /// Returns the key of a representation.
    ///
    /// - Throws: errSecParam for bytes that are not one; errSecItemNotFound if the keychain has no
    ///   such key, or the caller not its access group.
    public init(
        restoring representation: [UInt8],
        authentication: @escaping @Sendable () throws(KeychainError) -> Authentication,
        in open: @escaping @Sendable () throws(KeychainError) -> KeychainSession
    ) throws(KeychainError) {
        let reference = try EnclaveKeyReference(decoding: representation)
        let found = try open().publicKey(of: reference.reference)
        guard found.half == .privateKey, found.publicKey == reference.publicPoint else { throw .itemNotFound }
        key = StoredKey(
            reference.reference, publicKey: try Self.publicKey(found.publicKey), authentication: authentication,
            in: open)
        self.open = open
        isKept = Atomic(true)
    }

    private static func publicKey(_ point: [UInt8]) throws(KeychainError) -> PublicKey {
        try .of(PublicKeyInfo(EnclaveKey.kind, half: .privateKey, publicKey: point))
    }

    /// The bytes that ``init(restoring:authentication:in:)`` uses to find the key again. From now on it stays in the
    /// keychain.
    public var representation: [UInt8] {
        isKept.store(true, ordering: .relaxed)
        return EnclaveKeyReference(key.reference, publicPoint: publicKey.external).encoded
    }

    /// The item of the key, for its attributes.
    public var item: PersistentReference { key.reference }

    /// Deletes the key.
    public func delete() throws(KeychainError) {
        let item = ItemQuery(.key, synchronizable: .any, persistentReference: key.reference)
        guard try open().delete(item) > 0 else { throw .itemNotFound }
        isKept.store(true, ordering: .relaxed)
    }

    public func use(_ use: PrivateKeyUse, on input: UnsafeRawBufferPointer) throws(KeychainError) -> SharedSecret {
        try key.use(use, on: input)
    }

    deinit {
        guard !isKept.load(ordering: .relaxed) else { return }
        // A failure cannot be reported here; then the key stays.
        _ = try? open().delete(ItemQuery(.key, synchronizable: .any, persistentReference: key.reference))
    }
}
