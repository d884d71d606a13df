// SPDX-License-Identifier: Apache-2.0

/// A format of text in which a value can be replaced, because it is known where the value begins and ends. Only values
/// without escapes are replaced: their bytes are what they mean.
enum ReplaceableFormat {
    /// `NAME=value`, as a shell reads it.
    case environment
    /// `name = value` to the end of the line: INI, properties, TOML.
    case properties
    case json, yaml, xml
    /// Words between blanks.
    case netrc
    /// Fields between colons; the password is the last one.
    case pgpass
    /// Command lines.
    case history

    /// - Parameter path: of the file.
    /// - Returns: nil for other formats, and for files of programs that understand no reference.
    init?(path: String) {
        let parts = path.lowercased().split(separator: "/")
        guard let name = parts.last, !parts.dropLast().contains(".git"), !name.hasSuffix("gitconfig") else {
            return nil
        }
        if let file = PasswordFile(name: String(name)) {
            switch file {
            case .netrc: self = .netrc
            case .postgres: self = .pgpass
            case .chap: return nil
            }
            return
        }
        if name.hasSuffix("_history") || name == ".history" {
            self = .history
            return
        }
        if name.hasPrefix(".env") {
            self = .environment
            return
        }
        switch name.split(separator: ".").last {
        case "env": self = .environment
        case "ini", "cfg", "conf", "properties", "toml", "npmrc", "pypirc": self = .properties
        case "json": self = .json
        case "yaml", "yml": self = .yaml
        case "xml", "plist": self = .xml
        default: return nil
        }
    }

    /// Whether a range is exactly a value of the text.
    func isValue(_ range: Range<Int>, in text: ScannedText) -> Bool {
        let value = text.part(range)
        guard !value.contains(UInt8(ascii: "\\")) else { return false }
        let (before, after) = (text[at: range.lowerBound - 1], text[at: range.upperBound])
        let isQuoted = before == after && ByteClass("\"'").contains(before)
        switch self {
        case .environment:
            return !value.contains(where: (isQuoted ? Self.expansionSigns : Self.environmentSigns).contains)
                && isOnly(range, in: text, isQuoted: isQuoted, comments: "#", separators: "=")
        case .properties:
            return !value.contains(UInt8(ascii: "%"))
                && isOnly(range, in: text, isQuoted: isQuoted, comments: isQuoted ? "#" : "", separators: "=:")
        case .json:
            // A text before a colon is a name.
            let next = text.end(of: .whiteSpace, from: range.upperBound + 1, limit: 4096)
            return isQuoted && before == UInt8(ascii: "\"") && text[at: next] != UInt8(ascii: ":")
        case .yaml:
            // In single quotes, two of them are one character.
            if isQuoted {
                return text[at: range.upperBound + 1] != before
                    && isOnly(range, in: text, isQuoted: true, comments: "#", separators: ":-")
            }
            return value.first.map { !Self.yamlSigns.contains($0) } == true && !value.contains(UInt8(ascii: "#"))
                && isOnly(range, in: text, isQuoted: false, comments: "#", separators: ":-")
        case .xml:
            guard !value.contains(where: ByteClass("&<>").contains) else { return false }
            if isQuoted { return text[at: range.lowerBound - 2] == UInt8(ascii: "=") }
            let start = text.start(of: .whiteSpace, to: range.lowerBound, limit: 4096)
            let end = text.end(of: .whiteSpace, from: range.upperBound, limit: 4096)
            return text[at: start - 1] == UInt8(ascii: ">") && text[at: start - 2] != UInt8(ascii: "-")
                && text[at: end] == UInt8(ascii: "<") && text[at: end + 1] == UInt8(ascii: "/")
        case .netrc:
            return !value.contains(where: ByteClass.quotes.contains) && Self.isEdge(before) && Self.isEdge(after)
        case .pgpass:
            return before == UInt8(ascii: ":") && ByteClass.lineEnd.contains(after)
                && !value.contains(UInt8(ascii: ":"))
        case .history:
            guard !value.contains(where: (isQuoted ? Self.expansionSigns : Self.shellSigns).contains) else {
                return false
            }
            let start = isQuoted ? range.lowerBound - 1 : range.lowerBound
            let end = isQuoted ? range.upperBound + 1 : range.upperBound
            let isOption = text.has(" -p", at: start - 3) || text[at: start - 1] == UInt8(ascii: "=")
            return (isOption || Self.isEdge(text[at: start - 1])) && Self.isEdge(text[at: end])
        }
    }

    /// Whether the line has only a name, a separator, and the value: nothing behind it but blanks and a comment.
    private func isOnly(
        _ range: Range<Int>, in text: ScannedText, isQuoted: Bool, comments: String, separators: String
    ) -> Bool {
        let line = text.line(around: range.lowerBound)
        let start = isQuoted ? range.lowerBound - 1 : range.lowerBound
        let end = isQuoted ? range.upperBound + 1 : range.upperBound
        let rest = text.end(of: .blank, from: end)
        let isComment = rest > end && ByteClass(comments).contains(text[at: rest])
        guard ByteClass.lineEnd.contains(text[at: rest]) || isComment, line.lowerBound < start else { return false }
        guard isQuoted || !continues(behind: rest, from: line.lowerBound, in: text) else { return false }
        let nameEnd = text.start(of: .blank, to: start, limit: 256)
        return ByteClass(separators).contains(text[at: nameEnd - 1])
            && !text.part(line.lowerBound..<nameEnd).contains(where: Self.brackets.contains)
    }

    /// Whether the next line that is not empty begins further to the right than the name: it belongs to the value.
    private func continues(behind end: Int, from lineStart: Int, in text: ScannedText) -> Bool {
        let name = text.end(of: Self.indentation, from: lineStart)
        let lineEnd = text.end(of: .notLineEnd, from: end)
        let next = text.end(of: .whiteSpace, from: lineEnd)
        let indent = next - text.start(of: .blank, to: next, limit: 4096)
        return next < text.count && indent > name - lineStart
    }

    private static func isEdge(_ byte: UInt8) -> Bool { byte <= 0x20 }

    private static let brackets = ByteClass("{[(,<#;")
    /// A list of YAML indents the names in it.
    private static let indentation = ByteClass.blank.union("-")
    /// Characters that mean something else in quotes.
    private static let expansionSigns = ByteClass("$`")
    /// Characters that mean something else in files of environment variables.
    private static let environmentSigns = ByteClass { $0 <= 0x20 || ByteClass("\"'`$\\;#").contains($0) }
    /// Characters that mean something else to a shell.
    private static let shellSigns = ByteClass { $0 <= 0x20 || ByteClass("\"'`$\\|&;<>()*?#~").contains($0) }
    /// The first characters of values that are no plain text.
    private static let yamlSigns = ByteClass("!*&|>@`%{}[],?:-#\"'")
}
