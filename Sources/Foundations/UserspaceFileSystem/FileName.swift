// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The name of a file in its directory: bytes without `/` that need not be UTF-8.
public struct FileName: Hashable, Sendable {
    public let bytes: [UInt8]

    /// - Returns: nil for an empty name, `.`, `..`, and a name with `/` or a zero byte.
    public init?(_ bytes: [UInt8]) {
        guard !bytes.isEmpty, bytes != [Self.dot], bytes != [Self.dot, Self.dot],
            !bytes.contains(where: { $0 == 0 || $0 == UInt8(ascii: "/") })
        else { return nil }
        self.bytes = bytes
    }

    /// Copies a name of the kernel's.
    init?(_ name: UnsafePointer<CChar>?) {
        guard let name else { return nil }
        self.init(Array(text: name))
    }

    private static let dot = UInt8(ascii: ".")
}

// MARK: CustomStringConvertible

extension FileName: CustomStringConvertible {
    public var description: String { String(decoding: bytes, as: UTF8.self) }
}

extension [UInt8] {
    /// The bytes of a C string.
    init(text: UnsafePointer<CChar>) { self.init(UnsafeRawBufferPointer(start: text, count: strlen(text))) }
}

/// Identifies a file as long as the kernel knows it: the number that ``InodeOperations`` has given it.
public struct InodeNumber: Hashable, RawRepresentable, Sendable {
    public let rawValue: UInt64

    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// The root directory of the file system.
    public static let root = InodeNumber(rawValue: 1)
}
