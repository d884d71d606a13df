// SPDX-License-Identifier: Apache-2.0

internal import CFido2
internal import LinuxSystem

/// The stored data of an enrolled security key. It is not secret: without the device it derives nothing. It must be
/// authentic, because it says which key answers and whether the PIN is required.
public struct SecurityKeyCredential: Hashable, Sendable {
    /// The device's name for the credential: 1 to 1023 bytes (WebAuthn, "Credential ID").
    public let id: [UInt8]
    /// The public key of the credential, a point of P-256: X ‖ Y, 64 bytes.
    public let publicKey: [UInt8]
    /// The input of the secret's derivation, beside the credential: 32 bytes.
    public let salt: [UInt8]
    /// The requirement of every derivation.
    public let verification: UserVerification
    /// Whether the device proved at its enrollment that it has the credential, before it had the PIN. If so, the PIN is
    /// sent to no device that does not prove it again. Always true for ``UserVerification/touch``, because it sends no
    /// PIN.
    public let provesWithoutPIN: Bool

    /// - Throws: ``SecurityKeyError/credentialDamaged(_:)`` if a length is wrong, or if the public
    ///   key is not a point of the curve.
    public init(
        id: [UInt8], publicKey: [UInt8], salt: [UInt8], verification: UserVerification, provesWithoutPIN: Bool = true
    ) throws(SecurityKeyError) {
        guard Self.idCounts.contains(id.count) else {
            throw .credentialDamaged("its identifier has \(id.count) bytes, expected 1 to 1023")
        }
        guard publicKey.count == Self.publicKeyCount, PublicKey(publicKey) != nil else {
            throw .credentialDamaged("its public key is not a point of P-256")
        }
        guard salt.count == Self.saltCount else {
            throw .credentialDamaged("its salt has \(salt.count) bytes, expected \(Self.saltCount)")
        }
        self.id = id
        self.publicKey = publicKey
        self.salt = salt
        self.verification = verification
        self.provesWithoutPIN = provesWithoutPIN || verification == .touch
    }

    /// Returns the same credential with a new random salt, and so with another secret.
    public func withNewSalt() -> SecurityKeyCredential {
        SecurityKeyCredential(
            valid: self, salt: RandomBytes.array(count: Self.saltCount), provesWithoutPIN: provesWithoutPIN)
    }

    /// Returns the credential of a device that answers nothing without the PIN.
    func withoutProof() -> SecurityKeyCredential {
        SecurityKeyCredential(valid: self, salt: salt, provesWithoutPIN: verification == .touch)
    }

    private init(valid other: SecurityKeyCredential, salt: [UInt8], provesWithoutPIN: Bool) {
        id = other.id
        publicKey = other.publicKey
        self.salt = salt
        verification = other.verification
        self.provesWithoutPIN = provesWithoutPIN
    }

    static let idCounts = 1...1023
    static let publicKeyCount = 64
    static let saltCount = 32
}

// MARK: Encoding

extension SecurityKeyCredential {
    /// The stored form, of at most 1130 bytes: `LKFIDO`, the version as a 16-bit number, the
    /// verification as one byte, the length of the identifier as a 16-bit number, the identifier,
    /// the public key, the salt. Numbers are big-endian.
    public var encoded: [UInt8] {
        // The initializers limit the length of the identifier to 1023.
        let lengthBytes = UInt16(truncatingIfNeeded: id.count).bigEndianBytes
        let verification = StoredVerification(self).rawValue
        return Self.magic + Self.version + [verification] + lengthBytes + id + publicKey + salt
    }

    /// Reads the stored form. Any bytes are either read or rejected with an error.
    public init(decoding bytes: some Collection<UInt8>) throws(SecurityKeyError) {
        var fields = FieldReader(Array(bytes.prefix(Self.maxEncodedCount + 1)))
        func take(_ count: Int, _ name: String) throws(SecurityKeyError) -> [UInt8] {
            guard let bytes = fields.array(count) else { throw .credentialDamaged("it ends within the \(name)") }
            return bytes
        }
        func number(_ name: String) throws(SecurityKeyError) -> UInt16 {
            guard let number: UInt16 = fields.number() else { throw .credentialDamaged("it ends within the \(name)") }
            return number
        }
        guard try take(Self.magic.count, "first bytes") == Self.magic else {
            throw .credentialDamaged("it does not begin with LKFIDO")
        }
        let found = try number("version")
        guard found == Self.knownVersion else { throw .newerCredential(found: found, known: Self.knownVersion) }
        guard let verification = try take(1, "verification").first.flatMap(StoredVerification.init(rawValue:)) else {
            throw .credentialDamaged("its verification is unknown")
        }
        let idCount = Int(try number("length of the identifier"))
        guard Self.idCounts.contains(idCount) else {
            throw .credentialDamaged("its identifier has \(idCount) bytes, expected 1 to 1023")
        }
        let id = try take(idCount, "identifier")
        let publicKey = try take(Self.publicKeyCount, "public key")
        let salt = try take(Self.saltCount, "salt")
        guard fields.isAtEnd else { throw .credentialDamaged("there are bytes after its salt") }
        try self.init(
            id: id, publicKey: publicKey, salt: salt, verification: verification == .touch ? .touch : .pin,
            provesWithoutPIN: verification != .pinWithoutProof)
    }

    /// The length of the longest stored form in bytes.
    public static let maxEncodedCount = 6 + 2 + 1 + 2 + 1023 + 64 + 32

    private static let magic = Array("LKFIDO".utf8)
    private static let knownVersion: UInt16 = 1
    private static let version: [UInt8] = [0, 1]
}

/// The requirement of every derivation in its stored form.
private enum StoredVerification: UInt8 {
    case touch = 0
    /// The PIN. It is sent after the device has proven that it has the credential.
    case pin = 1
    /// The PIN. It is sent to the device without this proof.
    case pinWithoutProof = 2

    init(_ credential: SecurityKeyCredential) {
        switch credential.verification {
        case .touch: self = .touch
        case .pin: self = credential.provesWithoutPIN ? .pin : .pinWithoutProof
        }
    }
}

/// A public key in libfido2's form.
struct PublicKey: ~Copyable {
    let pointer: OpaquePointer

    /// Nil if the 64 bytes are not a point of P-256; libfido2 checks that.
    init?(_ bytes: [UInt8]) {
        guard let pointer = es256_pk_new() else { return nil }
        guard bytes.count == SecurityKeyCredential.publicKeyCount,
            es256_pk_from_ptr(pointer, bytes, bytes.count) == FIDO_OK
        else {
            var freed: OpaquePointer? = pointer
            es256_pk_free(&freed)
            return nil
        }
        self.pointer = pointer
    }

    deinit {
        var freed: OpaquePointer? = pointer
        es256_pk_free(&freed)
    }
}
