// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A path, or a name in a directory, as the system has it: bytes that need not be UTF-8.
///
/// Paths from a command line, a directory or the environment are of this type until they reach a
/// system call. Only ``description`` is made for people.
///
/// ```swift
/// let place: FilePath = "\(directory)/\(name)"
/// let file = try OwnedDescriptor(opening: place, flags: O_RDONLY)
/// ```
public struct FilePath: Hashable, Sendable {
    public let bytes: [UInt8]

    public init(bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

    public init(_ text: some StringProtocol) { bytes = Array(text.utf8) }

    /// Copies a path of the C library's.
    public init(cString text: UnsafePointer<CChar>) {
        self.init(bytes: UnsafeRawBufferPointer(start: text, count: strlen(text)))
    }

    /// The path as text; nil if it is not UTF-8.
    public var text: String? { String(validating: bytes, as: UTF8.self) }

    /// The last component; nil if there is none, as in `/`.
    public var lastComponent: FilePath? { bytes.split(separator: Self.slash).last.map { FilePath(bytes: $0) } }

    /// The parent directory; nil if there is none, because the path is empty or the root.
    public var parent: FilePath? {
        let parts = bytes.split(separator: Self.slash)
        guard !parts.isEmpty else { return nil }
        let parent = FilePath(bytes: parts.dropLast().joined(separator: [Self.slash]))
        if isAbsolute { return "/\(parent)" }
        return parent.bytes.isEmpty ? "." : parent
    }

    public var isAbsolute: Bool { bytes.first == Self.slash }

    public func hasPrefix(_ text: String) -> Bool { bytes.starts(with: text.utf8) }

    /// Returns the path of an entry of this directory.
    public func appending(_ name: FilePath) -> FilePath {
        bytes.last == Self.slash ? "\(self)\(name)" : "\(self)/\(name)"
    }

    /// Calls `body` with the path as the C library takes it. A path with a zero byte becomes the empty path, and names
    /// nothing: the system would use its beginning.
    public func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
        let terminated = (bytes.contains(0) ? [] : bytes.map(CChar.init(bitPattern:))) + [0]
        return terminated.withUnsafeBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return "".withCString(body) }
            return body(start)
        }
    }

    private static let slash = UInt8(ascii: "/")
}

// MARK: ExpressibleByStringInterpolation

extension FilePath: ExpressibleByStringInterpolation {
    public init(stringLiteral text: String) { self.init(text) }

    public init(stringInterpolation: Interpolation) { bytes = stringInterpolation.bytes }

    public struct Interpolation: StringInterpolationProtocol {
        fileprivate var bytes: [UInt8] = []

        public init(literalCapacity: Int, interpolationCount: Int) {
            bytes.reserveCapacity(literalCapacity + interpolationCount * 32)
        }

        public mutating func appendLiteral(_ text: String) { bytes += text.utf8 }

        public mutating func appendInterpolation(_ path: FilePath) { bytes += path.bytes }

        public mutating func appendInterpolation(_ text: String) { bytes += text.utf8 }

        public mutating func appendInterpolation(_ number: some BinaryInteger) { bytes += String(number).utf8 }
    }
}

// MARK: Comparable

extension FilePath: Comparable {
    /// The order of the bytes.
    public static func < (first: FilePath, second: FilePath) -> Bool {
        first.bytes.lexicographicallyPrecedes(second.bytes)
    }
}

// MARK: CustomStringConvertible

extension FilePath: CustomStringConvertible {
    /// For messages: bytes that are not UTF-8 become `\xe9`.
    public var description: String {
        if let text { return text }
        var shown = ""
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = Self.scalarLength(rest)
            if count > 0 {
                shown += String(decoding: rest.prefix(count), as: UTF8.self)
            } else if let byte = rest.first {
                shown += "\\x" + Hexadecimal.text(byte)
            }
            rest = rest.dropFirst(max(count, 1))
        }
        return shown
    }

    /// The number of bytes of the scalar at the beginning; 0 if they are not UTF-8.
    private static func scalarLength(_ bytes: ArraySlice<UInt8>) -> Int {
        (1...4).first { $0 <= bytes.count && String(validating: bytes.prefix($0), as: UTF8.self) != nil } ?? 0
    }
}
