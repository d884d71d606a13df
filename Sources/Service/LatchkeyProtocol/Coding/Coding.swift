// SPDX-License-Identifier: Apache-2.0

package import SwiftProtobuf

/// Throws if a message has fields that this version does not define.
package func requireKnown(_ message: some Message) throws(WireError) {
    guard message.unknownFields.data.isEmpty else {
        throw .malformed(
            "unexpected fields in a message of kind \(type(of: message).protoMessageName)")
    }
}

/// Decodes a message.
func decoded<Kind: Message>(_: Kind.Type, _ bytes: [UInt8]) throws(WireError) -> Kind {
    let message: Kind
    do {
        message = try Kind(serializedBytes: bytes)
    } catch {
        throw .malformed("the bytes are not a message")
    }
    try requireKnown(message)
    return message
}

/// Encodes a message.
func encoded(_ message: some Message) throws(WireError) -> [UInt8] {
    do {
        return try message.serializedBytes()
    } catch {
        throw .malformed("a message cannot be encoded")
    }
}

/// The limits of names. Names are stored in the log and in items.
package enum WireNames {
    /// PATH_MAX.
    package static let maxPathLength = 4096
    package static let maxCount = 1024
    private static let maxGroupLength = 1024

    package static func check(_ group: String) throws(WireError) {
        guard group.utf8.count <= maxGroupLength else {
            throw .malformed(
                "the name of an access group has \(group.utf8.count) bytes, at most \(maxGroupLength) are allowed")
        }
    }
}

/// Converts a number of the wire to an integer type of Swift.
package func number<Number: FixedWidthInteger>(_ value: some FixedWidthInteger, _ name: String) throws(WireError)
    -> Number
{
    guard let number = Number(exactly: value) else { throw .malformed("\(name) is out of range: \(value)") }
    return number
}
