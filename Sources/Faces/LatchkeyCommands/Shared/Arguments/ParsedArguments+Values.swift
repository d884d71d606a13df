// SPDX-License-Identifier: Apache-2.0

/// The values of a ``DailyCommand``, each as its type. They throw a usage failure for a value of another type.
extension ParsedArguments {
    /// Returns the value of an option as text.
    func text(_ name: String) throws(CommandFailure) -> String? {
        guard let word = self[name] else { return nil }
        return try Self.text(word)
    }

    /// Returns the value of an option as a number of a range. A range up to the largest number has no end.
    func number<Number: FixedWidthInteger>(
        _ name: String, _ range: ClosedRange<Number>, unit: String = ""
    ) throws(CommandFailure) -> Number? {
        guard let text = try text(name) else { return nil }
        guard let number = Number(text), range.contains(number) else {
            let end = range.upperBound == .max && Number.bitWidth > 16 ? "or more" : "to \(range.upperBound)"
            throw .usage("\(name) must be \(range.lowerBound) \(end)\(unit), but is '\(text)'")
        }
        return number
    }

    /// Returns the value of an option that accepts some words only.
    func choice<Choice: RawRepresentable<String>>(_ name: String) throws(CommandFailure) -> Choice? {
        guard let text = try text(name) else { return nil }
        guard let choice = Choice(rawValue: text) else {
            let option = occurrences.last { $0.option.name == name }?.option
            throw .usage("\(name) must be \(option?.completion.list ?? ""), but is '\(text)'")
        }
        return choice
    }

    /// Returns the only operand.
    func operand() throws(CommandFailure) -> String? {
        guard let word = operands.first else { return nil }
        if let further = operands.dropFirst().first { throw .usage("unexpected argument '\(further.path)'") }
        return try Self.text(word)
    }

    private static func text(_ word: CommandWord) throws(CommandFailure) -> String {
        guard let text = String(validating: word.bytes, as: UTF8.self) else {
            throw .usage("'\(word.path)' is not UTF-8, and the command takes only text there")
        }
        return text
    }
}

extension CommandOption.Completion {
    /// The words that the option accepts, for messages.
    fileprivate var list: String {
        guard case .words(let words) = self, let last = words.last else { return "another word" }
        return "\(words.dropLast().joined(separator: ", ")) or \(last)"
    }
}
