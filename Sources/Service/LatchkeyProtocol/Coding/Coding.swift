// SPDX-License-Identifier: Apache-2.0

internal import SwiftProtobuf

/// Refuses a message that holds fields which this version does not know.
func requireKnown(_ message: some Message) throws(WireError) {
    guard message.unknownFields.data.isEmpty else {
        throw .malformed(
            "a message of kind \(type(of: message).protoMessageName) has fields that version 1 does not have")
    }
}

/// The message in these bytes.
func decoded<Kind: Message>(_: Kind.Type, _ bytes: [UInt8]) throws(WireError) -> Kind {
    let message: Kind
    do {
        message = try Kind(serializedBytes: bytes)
    } catch {
        throw .malformed("its bytes are no message")
    }
    try requireKnown(message)
    return message
}

/// The bytes of a message.
func encoded(_ message: some Message) throws(WireError) -> [UInt8] {
    do {
        return try message.serializedBytes()
    } catch {
        throw .malformed("a message cannot be written")
    }
}

/// How long names may be, which end in the log and in every item.
enum WireNames {
    /// PATH_MAX.
    static let maxPathLength = 4096
    static let maxCount = 1024
    private static let maxGroupLength = 1024

    static func check(_ group: String) throws(WireError) {
        guard group.utf8.count <= maxGroupLength else {
            throw .malformed(
                "the name of an access group has \(group.utf8.count) bytes, at most \(maxGroupLength) are allowed")
        }
    }
}

/// A number of the wire as one of Swift's.
func number<Number: FixedWidthInteger>(_ value: some FixedWidthInteger, _ name: String) throws(WireError) -> Number {
    guard let number = Number(exactly: value) else { throw .malformed("\(name) is \(value)") }
    return number
}
