// SPDX-License-Identifier: Apache-2.0

/// A file of passwords that stand in their fields without a name.
enum PasswordFile {
    /// `machine HOST login USER password SECRET`, in words.
    case netrc
    /// `HOST:PORT:DATABASE:USER:SECRET`, in lines.
    case postgres
    /// `CLIENT SERVER SECRET ADDRESS`, in lines (pppd).
    case chap

    /// - Parameter name: of the file.
    init?(name: String) {
        switch name {
        case _ where name.hasSuffix("netrc"), ".authinfo": self = .netrc
        case _ where name.hasSuffix("pgpass"), "pgpass.conf": self = .postgres
        case "chap-secrets", "pap-secrets": self = .chap
        default: return nil
        }
    }

    /// The ranges of the passwords.
    func passwords(in text: ScannedText) -> [Range<Int>] {
        var (ranges, position) = ([Range<Int>](), 0)
        while position < text.count {
            let line = position..<text.end(of: .notLineEnd, from: position)
            if text[at: text.end(of: .blank, from: position)] != UInt8(ascii: "#") {
                ranges += passwords(in: text, line: line)
            }
            position = line.upperBound + 1
        }
        return ranges
    }

    private func passwords(in text: ScannedText, line: Range<Int>) -> [Range<Int>] {
        switch self {
        case .netrc:
            let words = Self.words(text, line, ByteClass.visible)
            return zip(words, words.dropFirst()).filter { text.string($0.0) == "password" }.map(\.1)
        case .postgres:
            // A backslash escapes a colon and itself.
            var (colons, position) = ([Int](), line.lowerBound)
            while position < line.upperBound {
                if text[at: position] == UInt8(ascii: ":") { colons.append(position) }
                position += text[at: position] == UInt8(ascii: "\\") ? 2 : 1
            }
            guard colons.count == 4, let last = colons.last, last + 1 < line.upperBound else { return [] }
            return [last + 1..<line.upperBound]
        case .chap:
            let words = Self.words(text, line, ByteClass { ByteClass.visible.contains($0) && $0 != UInt8(ascii: "\"") })
            return words.count >= 3 ? Array(words[2...2]) : []
        }
    }

    private static func words(_ text: ScannedText, _ line: Range<Int>, _ members: ByteClass) -> [Range<Int>] {
        var (words, position) = ([Range<Int>](), line.lowerBound)
        while position < line.upperBound {
            let end = min(line.upperBound, text.end(of: members, from: position))
            if end > position { words.append(position..<end) }
            position = end + 1
        }
        return words
    }
}
