// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// One word of a command line, byte for byte: an argument need not be UTF-8, and a password must not change on its way.
public struct CommandWord: Hashable, Sendable {
    public let bytes: [UInt8]

    public init(bytes: some Sequence<UInt8>) {
        self.bytes = Array(bytes)
    }

    public init(_ text: String) {
        bytes = Array(text.utf8)
    }

    /// The arguments of this process, its name first.
    public static func ofThisProcess() -> [CommandWord] {
        (0..<Int(CommandLine.argc)).compactMap { index in
            CommandLine.unsafeArgv[index].map { start in
                var bytes: [UInt8] = []
                var next = start
                while next.pointee != 0 {
                    bytes.append(UInt8(bitPattern: next.pointee))
                    next += 1
                }
                return CommandWord(bytes: bytes)
            }
        }
    }

    /// The word for a message or a comparison; what is not UTF-8 is replaced.
    var text: String {
        String(decoding: bytes, as: UTF8.self)
    }

    /// The word as the value of an attribute: a string, or data where it is not UTF-8. Both are found by the same bytes.
    var attributeValue: AttributeValue {
        String(validating: bytes, as: UTF8.self).map(AttributeValue.string) ?? .data(bytes)
    }

    /// The last component of a path.
    var lastPathComponent: String {
        CommandWord(bytes: bytes.split(separator: UInt8(ascii: "/")).last ?? []).text
    }

    func hasPrefix(_ prefix: String) -> Bool {
        bytes.starts(with: prefix.utf8)
    }
}

// MARK: ExpressibleByStringLiteral

extension CommandWord: ExpressibleByStringLiteral {
    public init(stringLiteral text: String) {
        self.init(text)
    }
}
