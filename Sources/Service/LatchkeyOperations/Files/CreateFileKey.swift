// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService

/// Creates the key of a new protected file. Nothing of it is stored, so that it is no change.
package struct CreateFileKey: KeychainOperation {
    package let protection: FileProtectionClass
    package let group: String?
    package let withholdsKey: Bool

    package init(_ protection: FileProtectionClass, group: String? = nil, withholdsKey: Bool = false) {
        (self.protection, self.group, self.withholdsKey) = (protection, group, withholdsKey)
    }

    package static let traits: OperationTraits = [.accessesItems]

    package var audit: AuditDetails? { AuditDetails("create-file-key", group: group, isDeferred: true) }

    package var reach: OperationReach { .loginKeychain }

    package func run(in context: some OperationContext) throws(KeychainError) -> FileKey {
        try context.service.fileKeys.create(
            protection, group: group, withholdsKey: withholdsKey, from: context.caller)
    }
}

extension FileKey: ResponseContent {
    package var auditedCount: Int { 1 }
    package var auditedGroup: AccessGroup? { record.binding.group }
}

extension OperationPerformer {
    /// Creates the key of a new file. The file belongs to one access group.
    ///
    /// - Parameters:
    ///   - group: the access group of the file; nil for the first one of the program.
    ///   - withholdsKey: whether the key stays in the service, so that the service encrypts and decrypts.
    /// - Throws: errSecInteractionNotAllowed while the class is closed; errSecMissingEntitlement.
    package func createFileKey(
        _ protection: FileProtectionClass, group: String? = nil, withholdsKey: Bool = false
    ) throws(KeychainError) -> FileKey {
        try perform(CreateFileKey(protection, group: group, withholdsKey: withholdsKey))
    }
}

// MARK: Coding

extension CreateFileKey {
    init(_ wire: WireCreateFileKey) throws(WireError) {
        try requireKnown(wire)
        protection = try FileProtectionClass(wire: wire.protection)
        group = wire.hasGroup ? wire.group : nil
        withholdsKey = wire.withholdsKey
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation {
        var wire = WireCreateFileKey()
        wire.protection = UInt32(protection.rawValue)
        if let group { wire.group = group }
        wire.withholdsKey = withholdsKey
        return .createFileKey(wire)
    }
}

extension FileKey {
    init(_ wire: WireFileKey, _ secrets: inout SecretTable) throws(WireError) {
        try requireKnown(wire)
        self.init(
            try FileKeyRecord(wire: wire.record), key: wire.hasKey ? try secrets.take(wire.key) : nil)
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireResponse.OneOf_Content {
        var wire = WireFileKey()
        wire.record = Data(record.encoded)
        if let key { wire.key = secrets.append(key) }
        return .fileKey(wire)
    }
}

extension FileProtectionClass {
    init(wire number: UInt32) throws(WireError) {
        guard let code = UInt8(exactly: number), let known = FileProtectionClass(rawValue: code) else {
            throw .malformed("unknown class \(number) of files")
        }
        self = known
    }
}

extension FileKeyRecord {
    init(wire bytes: Data) throws(WireError) {
        guard let record = FileKeyRecord(decoding: Array(bytes)) else {
            throw .malformed("\(bytes.count) bytes are not the key record of a protected file")
        }
        self = record
    }
}
