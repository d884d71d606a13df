// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem
internal import OpenSSLCrypto
internal import SecretMemory

/// The row that a constraint is bound to, and every derivation of its constraint.
///
/// ```
/// place          = keychain UUID ‖ item UUID ‖ be64 revision
/// share info     = "latchkey v3 share" ‖ place ‖ be64 flags ‖ term(1) ‖ identity of the pair
/// set check      = first 16 bytes of HKDF(ikm = value of the term, info = "latchkey v3 enrolled set check" ‖ place)
/// set mask       = HKDF(ikm = digest, info = "latchkey v3 enrolled set" ‖ place)
/// constraint key = HKDF(ikm = C ‖ A, info = "latchkey v3 constraint" ‖ place ‖ SHA-256(fixed part))
/// ```
struct ConstraintContext {
    private let place: [UInt8]

    /// - Parameters:
    ///   - item: the UUID of the item, 16 bytes.
    ///   - revision: the revision of the row when its secret half was sealed.
    init(keychain: [UInt8], item: [UInt8], revision: UInt64) {
        place = keychain + item + revision.bigEndianBytes
    }

    func shareInfo(_ flags: AccessControlFlags, _ term: AccessConstraint, _ recipient: PresenceIdentity) -> [UInt8] {
        Array("latchkey v3 share".utf8) + place + flags.rawValue.bigEndianBytes + [term.rawValue] + recipient.encoded
    }

    /// Returns the check of the set that masks the share of `biometryCurrentSet`. It is derived from the value that the
    /// share and the right set yield: without the share, the check does not tell whether a guess of the set is right.
    func enrolledSetCheck(_ value: borrowing SecretBytes) -> [UInt8] {
        KeybagCryptography.derive(from: value, label: "latchkey v3 enrolled set check", context: place)
            .withUnsafeBytes { Array($0.prefix(ConstraintRecord.checkLength - 1)) }
    }

    /// Adds or removes the mask of the enrolled set, so that the share of `biometryCurrentSet` is of use only with the
    /// set that it was bound to.
    func masked(_ share: borrowing SecretBytes, with set: EnrolledSet) -> SecretBytes {
        let mask = KeybagCryptography.derive(
            from: SecretBytes(set.digest), label: "latchkey v3 enrolled set", context: place)
        return share.exclusiveOr(mask)
    }

    /// Returns the key that wraps the key of the secret half.
    ///
    /// - Parameters:
    ///   - combined: the constraint key C: 32 bytes, or none if there are no terms.
    ///   - password: the key A of the application password: 32 bytes.
    func wrappingKey(_ combined: borrowing SecretBytes, _ password: SharedSecret?, fixedPart: [UInt8]) -> SecretBytes {
        let count = combined.count
        let parts = SecretBytes(count: count + (password?.count ?? 0)) { buffer in
            combined.withUnsafeBytes { buffer[..<count].copyBytes(from: $0) }
            password?.withUnsafeBytes { buffer[count...].copyBytes(from: $0) }
        }
        return KeybagCryptography.derive(
            from: parts, label: "latchkey v3 constraint",
            context: place + KeybagCryptography.digest(of: fixedPart))
    }
}

extension SecretBytes {
    /// Returns the bitwise exclusive or of two secrets of the same length.
    borrowing func exclusiveOr(_ other: borrowing SecretBytes) -> SecretBytes {
        withUnsafeBytes { mine in
            other.withUnsafeBytes { others in
                SecretBytes(count: min(mine.count, others.count)) { output in
                    for index in output.indices { output[index] = mine[index] ^ others[index] }
                }
            }
        }
    }
}
