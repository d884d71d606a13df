// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
package import LatchkeyProtocol
internal import LatchkeyService

/// A request with its number in the connection, and with the token of a change.
package struct NumberedRequest: Sendable {
    package var number: UInt64
    /// 16 random bytes, the same in every attempt at one change; empty otherwise.
    package var token: [UInt8]
    package var operation: any KeychainOperation

    package init(number: UInt64, token: [UInt8] = [], _ operation: any KeychainOperation) {
        self.number = number
        self.token = token
        self.operation = operation
    }

    /// Encodes the request as a frame.
    package func frame() throws(WireError) -> Frame {
        var secrets = SecretCollector()
        var message = WireRequest()
        message.number = number
        message.token = Data(token)
        message.operation = try operation.encoded(&secrets)
        return Frame(message: try message.bytes(), secrets: secrets.secrets)
    }

    /// Decodes a request. Unknown fields and codes, and secrets that no field refers to, are
    /// rejected.
    package init(_ frame: Frame) throws(WireError) {
        let message = try WireRequest(bytes: frame.message)
        var secrets = SecretTable(frame.secrets)
        guard message.token.isEmpty || message.token.count == 16 else {
            throw .malformed("a token has \(message.token.count) bytes")
        }
        guard let request = message.operation else { throw .malformed("a request without an operation") }
        let operation = try OperationTable.operation(request, &secrets)
        try secrets.requireAllTaken()
        self.init(number: message.number, token: Array(message.token), operation)
        guard !isChange || !token.isEmpty else { throw .malformed("a change has no token") }
    }

    /// Whether the operation changes anything, so that the request needs a token.
    package var isChange: Bool { type(of: operation).traits.contains(.changes) }
}
