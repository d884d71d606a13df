// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import KeychainModel

/// A right that is saved in ``LARightStore``. It protects a key, and a secret if one was saved with
/// it: both are items with the requirement as their access control, so that the keychain enforces it.
// Unchecked, because its superclass is; the properties are constant and Sendable.
public final class LAPersistedRight: LARight, @unchecked Sendable {
    /// The key of the right. Its private half can be used while the right is authorized.
    public let key: LAPrivateKey
    /// The secret of the right. It can be read while the right is authorized.
    public let secret: LASecret

    /// The stored record of the right.
    let record: RightRecord
    /// The item that contains the record.
    let reference: PersistentReference

    init(_ record: RightRecord, at reference: PersistentReference) throws(KeychainError) {
        self.record = record
        self.reference = reference
        let authorization = RightAuthorization(record.requirement, item: record.key)
        key = try LAPrivateKey(record, authorization)
        secret = LASecret(record.secret, authorization)
        super.init(authorization, tag: Int(record.tag))
    }
}
