// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem

/// The stored data of a saved right, in a generic password without constraints.
///
/// The record is not secret, and grants nothing: the items that it names have the constraints. Its
/// bytes, numbers with the most significant byte first:
///
/// | bytes | content |
/// |---|---|
/// | 1 | version, 1 |
/// | 1 | requirement (``LAAuthenticationRequirement/Kind``) |
/// | 8 | the app's tag, signed |
/// | 65 | public key, `04 ‖ X ‖ Y` |
/// | 20 | persistent reference of the private key |
/// | 0 or 20 | persistent reference of the secret |
struct RightRecord: Sendable, Equatable {
    var requirement: LAAuthenticationRequirement.Kind
    var tag: Int64
    var publicKey: [UInt8]
    var key: PersistentReference
    var secret: PersistentReference?

    /// The kind of the key of every right.
    static let keyKind = KeyKind(.ellipticCurve, bits: 256)
    private static let version: UInt8 = 1
    private static let publicKeyLength = 65
    private static let referenceLength = 20
}

extension RightRecord {
    var bytes: [UInt8] {
        var bytes = [Self.version, requirement.rawValue]
        bytes.append(bigEndian: tag)
        return bytes + publicKey + key.bytes + (secret?.bytes ?? [])
    }

    /// Returns nil unless `bytes` are a record of this version, without anything behind it.
    init?(bytes: [UInt8]) {
        var fields = FieldReader(bytes)
        guard fields.number() == Self.version,
            let requirement = fields.number(UInt8.self).flatMap(LAAuthenticationRequirement.Kind.init(rawValue:)),
            let tag: Int64 = fields.number(), let publicKey = fields.array(Self.publicKeyLength),
            let key = fields.array(Self.referenceLength).flatMap({ PersistentReference(bytes: $0) }),
            key.itemClass == .key
        else { return nil }
        self.init(requirement: requirement, tag: tag, publicKey: publicKey, key: key)
        guard !fields.isAtEnd else { return }
        guard let secret = fields.array(Self.referenceLength).flatMap({ PersistentReference(bytes: $0) }),
            fields.isAtEnd,
            secret.itemClass == .genericPassword
        else { return nil }
        self.secret = secret
    }
}
