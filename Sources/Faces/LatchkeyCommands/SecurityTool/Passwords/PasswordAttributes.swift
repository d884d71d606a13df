// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

extension ParsedArguments {
    /// Returns the attributes that the options set. The last value of an attribute wins.
    func attributes() throws(CommandFailure) -> [ItemAttribute: AttributeValue] {
        var attributes: [ItemAttribute: AttributeValue] = [:]
        for occurrence in occurrences {
            guard case .attribute(let attribute, let form) = occurrence.option.meaning, let word = occurrence.value
            else { continue }
            attributes[attribute] = try form.value(of: word, for: occurrence.option)
        }
        return attributes
    }
}

extension AttributeForm {
    /// - Throws: errSecParam for a code that is too long and for an invalid port.
    func value(of word: CommandWord, for option: CommandOption) throws(CommandFailure) -> AttributeValue {
        switch self {
        case .text:
            return word.attributeValue
        case .code:
            return CommandWord(bytes: try Self.code(word, for: option)).attributeValue
        case .codeNumber:
            return .number(try Self.code(word, for: option).reduce(0) { $0 << 8 | Int64($1) })
        case .port:
            guard let port = UInt16(word.text), word[0] != UInt8(ascii: "+") else {
                throw .parameter("the value of \(option.name) must be a number from 0 to 65535, but is '\(word.text)'")
            }
            return .number(Int64(port))
        }
    }

    /// Returns four characters. Shorter codes are padded with spaces, as macOS prints them.
    private static func code(_ word: CommandWord, for option: CommandOption) throws(CommandFailure) -> [UInt8] {
        guard (1...4).contains(word.count) else {
            throw .parameter("the value of \(option.name) must have one to four characters, but is '\(word.text)'")
        }
        return word.bytes + Array(repeating: UInt8(ascii: " "), count: 4 - word.count)
    }
}
