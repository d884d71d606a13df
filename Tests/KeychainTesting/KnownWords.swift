// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Words that a test stores encrypted, and then searches for in the data on the disk.
public struct KnownWords: Sendable {
    public let all: [String]
    /// The words in ASCII. strings(1) prints them.
    public var printable: [String] { Array(all.prefix(2)) }

    /// - Parameter name: tells these words from others; of ASCII.
    public init(_ name: String) {
        all = ["\(name)Zaunkoenig", "\(name)Geheimnummer", "\(name)Rückgratübung"]
    }

    /// Returns a binary property list with records that contain all words, as an app stores it. It has
    /// text of ASCII in ASCII, and other text in UTF-16.
    public func archive(records: Int) throws -> Data {
        let list = (0..<records).map { number in
            ["title": "\(all[0]) \(number)", "note": "\(all[1]) für \(number)", "place": "\(all[2]) \(number)"]
        }
        return try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
    }

    /// Returns the words that are in the bytes, in UTF-8 or in UTF-16.
    public func found(in bytes: Data) -> [String] {
        all.filter { word in
            let encodings: [String.Encoding] = [.utf8, .utf16LittleEndian, .utf16BigEndian]
            return encodings.contains { encoding in
                word.data(using: encoding).map { bytes.range(of: $0) != nil } ?? false
            }
        }
    }

    /// Returns the text that strings(1) prints from a file: text of 7 bits, and of 16 bits in both orders.
    public static func printableText(of path: String) throws -> Data {
        let parts = try ["s", "l", "b"].map { encoding in
            try Executable.run(program, ["-a", "-n", "4", "-e", encoding, path], home: "").output
        }
        return Data(parts.joined(separator: "\n").utf8)
    }

    /// Whether strings(1) is installed: it is a part of binutils.
    public static let canPrint = FileManager.default.isExecutableFile(atPath: program)
    private static let program = "/usr/bin/strings"
}
