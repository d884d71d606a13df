// SPDX-License-Identifier: Apache-2.0

/// A password in the arguments of a command.
struct CommandArgument {
    let range: Range<Int>

    /// Reads the value of an option that has a secret's name: `--password value`.
    ///
    /// - Parameter name: of the option, with its hyphens.
    init?(in text: ScannedText, option name: Range<Int>) {
        guard text[at: name.lowerBound] == UInt8(ascii: "-") else { return nil }
        self.init(in: text, at: name.upperBound)
    }

    /// Reads the password in the arguments of a program, at the position of its name.
    init?(in text: ScannedText, program position: Int) {
        let end = Self.end(of: position, in: text)
        func place(behind option: StaticString) -> Int? {
            text.first(option, from: position, before: end).map { $0 + option.utf8CodeUnitCount }
        }
        if text.has("curl ", at: position) {
            guard let option = place(behind: " -u ") ?? place(behind: " --user "),
                let word = CommandArgument(in: text, at: option)?.range
            else { return nil }
            let colon = text.first(of: Self.colon, from: word.lowerBound, before: word.upperBound)
            guard colon + 1 < word.upperBound else { return nil }
            self.init(range: colon + 1..<word.upperBound)
        } else {
            // mysql takes `-p value` as an option without a password, and a word.
            let mayBeApart = text.has("sshpass ", at: position)
            guard let option = place(behind: " -p"), mayBeApart || !ByteClass.blank.contains(text[at: option]) else {
                return nil
            }
            self.init(in: text, at: option)
        }
    }

    /// The end of the command with a program's name at a position.
    static func end(of position: Int, in text: ScannedText) -> Int {
        text.first(of: commandEnd, from: position, before: min(text.count, position + 2048))
    }

    private init(range: Range<Int>) { self.range = range }

    private static let commandEnd = ByteClass.lineEnd.union("|;&")
    private static let colon = ByteClass(":")

    /// Reads one word of a shell, with or without quotes.
    private init?(in text: ScannedText, at position: Int) {
        var start = text.end(of: .blank, from: position, limit: 8)
        let quote = text[at: start]
        let end: Int
        if quote == UInt8(ascii: "'") || quote == UInt8(ascii: "\"") {
            start += 1
            end = text.first(of: ByteClass([quote, 0x0A, 0]), from: start, before: min(text.count, start + 256))
            guard text[at: end] == quote else { return nil }
        } else {
            end = text.first(of: Self.wordEnd, from: start, before: min(text.count, start + 256))
        }
        guard end > start, quote != UInt8(ascii: "-") else { return nil }
        self.init(range: start..<end)
    }

    private static let wordEnd = ByteClass { $0 <= 0x20 || ByteClass("\"'`|;&<>()").contains($0) }
}
