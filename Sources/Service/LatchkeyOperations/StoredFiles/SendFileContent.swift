// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService
package import SecretMemory

/// Sends the next part of a file that is being stored, or of bytes to search for copies; an empty one ends it. It is part
/// of a ``StoreFile`` or ``FindCopies``, and refused anywhere else.
package struct SendFileContent: KeychainOperation {
    package let content: SharedSecret

    package init(_ content: SharedSecret) { self.content = content }

    package static let traits: OperationTraits = .worksWithoutLog

    package var audit: AuditDetails? { nil }

    package func run(in context: some OperationContext) throws(KeychainError) -> Done {
        throw KeychainError(.param, "unexpected part of a file")
    }
}

// MARK: Coding

extension SendFileContent {
    init(_ wire: UInt32, _ secrets: inout SecretTable) throws(WireError) {
        content = try secrets.take(wire)
        guard content.count <= StoredFilePart.maxLength else {
            throw .malformed("a part of a file has at most \(StoredFilePart.maxLength) bytes")
        }
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation {
        .fileContent(secrets.append(content))
    }
}
