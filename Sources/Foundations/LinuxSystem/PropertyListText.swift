// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials

/// Apple's property lists in XML and UTF-8, as somebody else has written them.
public enum PropertyListText {
    /// What is wrong with bytes that are none.
    public struct Malformed: Error {}

    /// Reads a value.
    ///
    /// - Throws: ``Malformed``, also for lists in another form, or what the value's own decoding throws.
    public static func decode<Value: Decodable>(_ type: Value.Type, from bytes: some Collection<UInt8>) throws -> Value {
        // The toolchain's decoder stops the process at a number whose bytes are no UTF-8.
        guard String(validating: bytes, as: UTF8.self)?.first(where: { !$0.isWhitespace }) == "<" else { throw Malformed() }
        return try PropertyListDecoder().decode(type, from: Data(bytes))
    }
}
