// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService

/// Wraps the key of a protected file again, for another class or access group. Nothing of it is
/// stored, so that it is no change.
package struct RewrapFileKey: KeychainOperation {
    package let record: FileKeyRecord
    package let protection: FileProtectionClass?
    package let group: String?

    package init(_ record: FileKeyRecord, for protection: FileProtectionClass? = nil, group: String? = nil) {
        (self.record, self.protection, self.group) = (record, protection, group)
    }

    package static let traits: OperationTraits = [.accessesItems, .readsSecrets]

    package var audit: AuditDetails? { AuditDetails("rewrap-file-key", group: group ?? record.binding.group.name) }

    package var reach: OperationReach { .loginKeychain }

    package func run(in context: some OperationContext) throws(KeychainError) -> FileKey {
        // In another group or class, other programs can read the file.
        try context.requireAccess(toSecretsIn: [record.binding.group])
        return FileKey(
            try context.service.fileKeys.rewrap(record, for: protection, group: group, from: context.caller), key: nil)
    }
}

extension OperationPerformer {
    /// Wraps the key of a file again, with the newest class key.
    ///
    /// - Parameters:
    ///   - protection: the new class; nil for the present one.
    ///   - group: the new access group; nil for the present one.
    package func rewrapFileKey(
        _ record: FileKeyRecord, for protection: FileProtectionClass? = nil, group: String? = nil
    ) throws(KeychainError) -> FileKeyRecord {
        try perform(RewrapFileKey(record, for: protection, group: group)).record
    }
}

// MARK: Coding

extension RewrapFileKey {
    init(_ wire: WireRewrapFileKey) throws(WireError) {
        try requireKnown(wire)
        record = try FileKeyRecord(wire: wire.record)
        protection = wire.hasProtection ? try FileProtectionClass(wire: wire.protection) : nil
        group = wire.hasGroup ? wire.group : nil
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation {
        var wire = WireRewrapFileKey()
        wire.record = Data(record.encoded)
        if let protection { wire.protection = UInt32(protection.rawValue) }
        if let group { wire.group = group }
        return .rewrapFileKey(wire)
    }
}
