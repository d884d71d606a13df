// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// What is stored about a saved right, in a generic password without constraints.
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
        var rest = bytes[...]
        func take(_ count: Int) -> [UInt8] {
            defer { rest = rest.dropFirst(count) }
            return Array(rest.prefix(count))
        }
        guard take(1) == [Self.version], let kind = take(1).first,
            let requirement = LAAuthenticationRequirement.Kind(rawValue: kind)
        else { return nil }
        let tag = take(8)
        let publicKey = take(Self.publicKeyLength)
        guard tag.count == 8, publicKey.count == Self.publicKeyLength,
            let key = PersistentReference(bytes: take(Self.referenceLength)), key.itemClass == .key
        else { return nil }
        self.init(
            requirement: requirement, tag: tag.reduce(0) { $0 << 8 | Int64($1) }, publicKey: publicKey, key: key)
        guard !rest.isEmpty else { return }
        guard let secret = PersistentReference(bytes: take(Self.referenceLength)), rest.isEmpty,
            secret.itemClass == .genericPassword
        else { return nil }
        self.secret = secret
    }
}
