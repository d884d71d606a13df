// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService

/// Encrypts or decrypts a part of a protected file, for a program that does not get the key.
package struct UseFileKey: KeychainOperation {
    package let request: FilePartRequest

    package init(_ request: FilePartRequest) { self.request = request }

    package static let traits: OperationTraits = [.accessesItems, .readsSecrets]

    package var audit: AuditDetails? { AuditDetails("use-file-key", group: request.record.binding.group.name) }

    package var reach: OperationReach { .loginKeychain }

    package func run(in context: some OperationContext) throws(KeychainError) -> FilePart {
        try context.requireAccess(toSecretsIn: [request.record.binding.group])
        return try context.service.fileKeys.use(request, from: context.caller)
    }
}

extension FilePart: ResponseContent {
    package var auditedCount: Int { 1 }
}

extension OperationPerformer {
    /// Encrypts or decrypts with the key of a file.
    ///
    /// - Throws: errSecDecode for a ciphertext that is not authentic; errSecParam for an input that is too long.
    package func useFileKey(_ request: FilePartRequest) throws(KeychainError) -> FilePart {
        try perform(UseFileKey(request))
    }
}

// MARK: Coding

extension UseFileKey {
    init(_ wire: WireUseFileKey, _ secrets: inout SecretTable) throws(WireError) {
        try requireKnown(wire)
        request = FilePartRequest(
            try FileKeyRecord(wire: wire.record), try secrets.take(wire.input),
            authenticated: Array(wire.authenticated), seal: wire.hasSeal ? Array(wire.seal) : nil)
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation {
        var wire = WireUseFileKey()
        wire.record = Data(request.record.encoded)
        wire.input = secrets.append(request.input)
        wire.authenticated = Data(request.authenticated)
        if let seal = request.seal { wire.seal = Data(seal) }
        return .useFileKey(wire)
    }
}

extension FilePart {
    init(_ wire: WireFilePart, _ secrets: inout SecretTable) throws(WireError) {
        try requireKnown(wire)
        self.init(try secrets.take(wire.output), seal: wire.hasSeal ? Array(wire.seal) : nil)
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireResponse.OneOf_Content {
        var wire = WireFilePart()
        wire.output = secrets.append(output)
        if let seal { wire.seal = Data(seal) }
        return .filePart(wire)
    }
}
