// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// One line that is sent to pinentry, in the protocol of libassuan ("Client requests").
struct AssuanCommand {
    /// The line with its line feed.
    let line: [UInt8]

    /// - Parameters:
    ///   - name: the command.
    ///   - argument: any text. Control characters and percent signs are escaped, and a text that does not fit into the
    ///     line is cut off between two characters.
    init(_ name: StaticString, _ argument: String = "") {
        var line = Array(name.description.utf8)
        if !argument.isEmpty { line.append(UInt8(ascii: " ")) }
        for scalar in argument.unicodeScalars {
            let escaped = UTF8.encode(scalar).map { Array($0) } ?? []
            let bytes = escaped.flatMap(Self.escape)
            guard line.count + bytes.count <= Self.maxLength else { break }
            line += bytes
        }
        self.line = line + [UInt8(ascii: "\n")]
    }

    /// The maximum length of a line in bytes, without its line feed (libassuan, "Implementation").
    static let maxLength = 1000

    private static func escape(_ byte: UInt8) -> [UInt8] {
        guard byte < 0x20 || byte == 0x7F || byte == UInt8(ascii: "%") else { return [byte] }
        return Array("%\(Hexadecimal.text(byte, isUppercase: true))".utf8)
    }
}
