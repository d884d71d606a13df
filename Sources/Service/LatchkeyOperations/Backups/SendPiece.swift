// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService

/// Sends the next bytes of a backup that is being restored; an empty piece ends it. It is part of a
/// ``RestoreKeychain``, and refused anywhere else.
package struct SendPiece: KeychainOperation {
    package let bytes: [UInt8]

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    package static let traits: OperationTraits = .worksWithoutLog

    package var audit: AuditDetails? { nil }

    package func run(in context: some OperationContext) throws(KeychainError) -> Done {
        throw KeychainError(.param, "unexpected piece of a backup")
    }
}

// MARK: Coding

extension SendPiece {
    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation { .piece(Data(bytes)) }
}
