// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// The path of an object: `/`, or components of letters, digits and `_`, each after a slash.
public struct ObjectPath: Hashable, Sendable {
    public let text: String

    /// - Throws: ``BusError/invalid(_:)`` if the text is not a path.
    public init(validating text: String) throws(BusError) {
        guard Self.isValid(text) else {
            throw .invalid("'\(PrintableText(text, maxLength: 128).string)' is not an object path")
        }
        self.text = text
    }

    /// The path below this one.
    ///
    /// - Throws: ``BusError/invalid(_:)`` if the component is empty, or has other characters than
    ///   letters, digits and `_`.
    public func appending(_ component: String) throws(BusError) -> ObjectPath {
        try ObjectPath(validating: text == "/" ? "/\(component)" : "\(text)/\(component)")
    }

    /// Whether this path is `other` or below it.
    public func isAtOrBelow(_ other: ObjectPath) -> Bool {
        other.text == "/" || text == other.text || text.hasPrefix("\(other.text)/")
    }

    private static func isValid(_ text: String) -> Bool {
        var text = text
        // One pass over the bytes in their place: a message may have tens of thousands of paths.
        return text.withUTF8 { bytes in
            guard bytes.count <= maxLength, bytes.first == UInt8(ascii: "/") else { return false }
            guard bytes.count > 1 else { return true }
            var isAfterSlash = true
            for byte in bytes.dropFirst() {
                let isSlash = byte == UInt8(ascii: "/")
                guard isSlash ? !isAfterSlash : byte.isNameCharacter else { return false }
                isAfterSlash = isSlash
            }
            return !isAfterSlash
        }
    }

    /// In bytes. A limit of ours; the specification has none.
    static let maxLength = 4096
}

/// The name of a connection: one that it requested (`org.freedesktop.login1`), or the unique name
/// that the bus gave it (`:1.42`).
public struct BusName: Hashable, Sendable {
    public let text: String

    /// - Throws: ``BusError/invalid(_:)`` if the text is not a bus name.
    public init(validating text: String) throws(BusError) {
        guard Self.isValid(text) else {
            throw .invalid("'\(PrintableText(text, maxLength: 128).string)' is not a bus name")
        }
        self.text = text
    }

    /// Whether the bus gave the name to exactly one connection, for as long as the bus runs.
    public var isUnique: Bool { text.utf8.first == UInt8(ascii: ":") }

    /// The bus itself. It sends messages under this name, and lets no connection own it.
    public static let bus: BusName = "org.freedesktop.DBus"

    private static func isValid(_ text: String) -> Bool {
        let isUnique = text.utf8.first == UInt8(ascii: ":")
        let elements = (isUnique ? text.utf8.dropFirst(1) : text.utf8.dropFirst(0)).split(
            separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return text.utf8.count <= 255 && elements.count > 1
            && elements.allSatisfy { element in
                guard let first = element.first, isUnique || !first.isDigit else { return false }
                return element.allSatisfy { $0.isNameCharacter || $0 == UInt8(ascii: "-") }
            }
    }
}

// MARK: Literals

extension ObjectPath: ExpressibleByStringLiteral {
    /// A path in the source. Text from elsewhere is validated by ``init(validating:)``.
    public init(stringLiteral text: StaticString) {
        self.text = text.description
        precondition(Self.isValid(self.text), "a literal is not an object path")
    }
}

extension BusName: ExpressibleByStringLiteral {
    /// A name in the source. Text from elsewhere is validated by ``init(validating:)``.
    public init(stringLiteral text: StaticString) {
        self.text = text.description
        precondition(Self.isValid(self.text), "a literal is not a bus name")
    }
}

// MARK: CustomStringConvertible

extension ObjectPath: CustomStringConvertible {
    public var description: String { text }
}

extension BusName: CustomStringConvertible {
    public var description: String { text }
}

extension UInt8 {
    fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    fileprivate var isNameCharacter: Bool {
        isDigit || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self)
            || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) || self == UInt8(ascii: "_")
    }
}
