// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import OpenSSLCrypto
internal import SecretMemory

/// The key pair of one way to be present, as the keybag stores it. Shares of the keys of constrained items are sealed
/// to the public key without the person. Only the private key yields them, and the person's presence opens it.
struct PresencePair: Equatable, Sendable {
    var identity: PresenceIdentity
    /// X25519 (RFC 7748): 32 bytes.
    var publicKey: [UInt8]
    /// The private key, wrapped by AES-KW under one or more keys.
    var wrapped: [WrappedPrivateKey]
    /// The stored enrollment of a security key; nil for the other kinds.
    var enrollment: SecurityKeyEnrollment?

    struct WrappedPrivateKey: Equatable, Sendable {
        var wrapping: KeyWrapping
        /// 40 bytes.
        var bytes: [UInt8]
    }

}

/// Identifies a pair in the keybag and in the shares that are sealed to it.
struct PresenceIdentity: Hashable, Sendable {
    enum Kind: UInt8, Sendable {
        case passcode = 1
        case biometry = 2
        case securityKey = 3
        /// A security key that also satisfies `userPresence`.
        case presentSecurityKey = 4

        var isSecurityKey: Bool { self == .securityKey || self == .presentSecurityKey }

        /// The keys that can wrap the private keys of this kind. The device key alone never does.
        var wrappings: Set<KeyWrapping> { isSecurityKey ? [.securityKey] : [.user, .recovery] }
    }

    var kind: Kind
    var generation: UInt32
    /// SHA-256 of the credential of a security key; empty for the other kinds.
    var credential: [UInt8] = []

    /// Whether the pair opens shares of the constraint.
    func satisfies(_ constraint: AccessConstraint) -> Bool {
        switch constraint {
        case .devicePasscode: kind == .passcode
        case .userPresence: kind != .securityKey
        case .biometryAny, .biometryCurrentSet: kind == .biometry
        case .securityKey: kind.isSecurityKey
        }
    }

    /// `kind(1) ‖ be32 generation ‖ be16 length ‖ credential`.
    var encoded: [UInt8] {
        var writer = KeybagWriter()
        write(to: &writer)
        return writer.bytes
    }

    func write(to writer: inout KeybagWriter) {
        writer.put(kind.rawValue)
        writer.put(generation)
        writer.put(bytes: credential)
    }

    init(kind: Kind, generation: UInt32, credential: [UInt8] = []) {
        (self.kind, self.generation, self.credential) = (kind, generation, credential)
    }

    init(_ reader: inout KeybagReader) throws(KeybagError) {
        let code: UInt8 = try reader.number("kind of presence")
        guard let kind = Kind(rawValue: code) else { throw .damaged("unknown kind of presence \(code)") }
        self.kind = kind
        generation = try reader.number("generation of a presence key")
        let length = kind.isSecurityKey ? Self.credentialLength : 0
        credential = try reader.bytes("credential of a presence key", counts: length...length)
    }

    /// The length of a credential's digest in bytes.
    static let credentialLength = 32
}

// MARK: Encoding

extension PresencePair {
    func write(to writer: inout KeybagWriter) {
        identity.write(to: &writer)
        writer.put(bytes: publicKey)
        writer.put(UInt8(wrapped.count))
        for key in wrapped {
            writer.put(key.wrapping.rawValue)
            writer.put(bytes: key.bytes)
        }
        enrollment?.write(to: &writer)
    }

    init(_ reader: inout KeybagReader) throws(KeybagError) {
        identity = try PresenceIdentity(&reader)
        publicKey = try reader.bytes("public presence key", counts: X25519.byteCount...X25519.byteCount)
        let count: UInt8 = try reader.number("number of wrapped presence keys")
        guard (1...Self.maxWrapped).contains(Int(count)) else {
            throw .damaged("a presence key is wrapped \(count) times, expected 1 to \(Self.maxWrapped)")
        }
        wrapped = []
        for _ in 0..<count {
            let code: UInt8 = try reader.number("wrapping of a presence key")
            guard let wrapping = KeyWrapping(rawValue: code), identity.kind.wrappings.contains(wrapping) else {
                throw .damaged("unknown wrapping \(code) of a presence key")
            }
            guard !wrapped.contains(where: { $0.wrapping == wrapping }) else {
                throw .damaged("duplicate presence key")
            }
            wrapped.append(
                WrappedPrivateKey(
                    wrapping: wrapping, bytes: try reader.bytes("wrapped presence key", counts: 40...40)))
        }
        guard identity.kind.isSecurityKey else { return }
        let enrollment = try SecurityKeyEnrollment(&reader)
        guard enrollment.identifier.bytes == identity.credential else {
            throw .damaged("the credential of a security key does not match its presence key")
        }
        self.enrollment = enrollment
    }

    /// Under the passcode and under the recovery key.
    private static let maxWrapped = 2
    /// The maximum number of pairs in a keybag, so that a row's shares have a limit.
    static let maxCount = 16
}

// MARK: Keys

extension PresencePair {
    /// Generates a pair with its private key wrapped under `kek`.
    static func generate(
        _ identity: PresenceIdentity, under kek: borrowing KeyEncryptionKey, of keychain: [UInt8]
    ) throws(KeybagError) -> PresencePair {
        let privateKey = try PresencePrivateKey(identity, .random(count: X25519.byteCount))
        var pair = PresencePair(identity: identity, publicKey: privateKey.publicKey, wrapped: [])
        try pair.wrap(privateKey, under: kek, of: keychain)
        return pair
    }

    /// Wraps the private key under `kek`, in place of an earlier wrapping of the same kind.
    mutating func wrap(
        _ privateKey: PresencePrivateKey, under kek: borrowing KeyEncryptionKey, of keychain: [UInt8]
    ) throws(KeybagError) {
        let wrapping = kek.wrapping
        let bytes = try kek.wrapPresence(privateKey, of: keychain)
        wrapped.removeAll { $0.wrapping == wrapping }
        wrapped.append(WrappedPrivateKey(wrapping: wrapping, bytes: bytes))
    }

    /// Unwraps the private key; nil if it is not wrapped in the way of `kek`.
    ///
    /// - Throws: ``KeybagError/wrongKey``.
    func privateKey(under kek: borrowing KeyEncryptionKey, of keychain: [UInt8]) throws(KeybagError)
        -> PresencePrivateKey?
    {
        let wrapping = kek.wrapping
        guard let key = wrapped.first(where: { $0.wrapping == wrapping }) else { return nil }
        return try kek.unwrapPresence(key.bytes, identity, of: keychain)
    }
}

/// The private half of a pair, in secret memory; it is wiped with the last reference.
final class PresencePrivateKey: Sendable {
    let identity: PresenceIdentity
    let secret: SecretBytes
    /// The public half, computed once for all shares.
    let publicKey: [UInt8]

    init(_ identity: PresenceIdentity, _ secret: consuming SecretBytes) throws(KeybagError) {
        do throws(OpenSSLError) {
            publicKey = try X25519.publicKey(of: secret)
        } catch {
            throw .cryptographyFailed(error.message)
        }
        self.identity = identity
        self.secret = secret
    }
}
