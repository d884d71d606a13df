// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// The words after a sub-command's name, split into options and operands.
///
/// Flags cluster (`-wl LABEL`), and a value is the rest of its cluster or the next word; after `--`,
/// every word is an operand. ``Rules`` has the differences between the two kinds of commands.
struct ParsedArguments: Sendable {
    /// The options in the order of the command line.
    let occurrences: [Occurrence]
    let operands: [CommandWord]

    struct Occurrence: Sendable {
        let option: CommandOption
        /// nil for a flag, and for an optional value that is absent.
        let value: CommandWord?
    }

    enum Rules: Sendable {
        /// As macOS's getopt: options end at the first operand, and a value may begin with `-`.
        case macOS
        /// As the other commands of `latchkey`: options may follow operands. A word that begins with `-` is no
        /// value, unless it is attached: `--label=-x`.
        ///
        /// - Parameter refusal: the message for an unknown option, if the word can be a secret; nil names it.
        case latchkey(refusal: String?)
    }

    /// - Throws: ``CommandFailure/usage(_:)``.
    init(
        _ words: ArraySlice<CommandWord>, options: [CommandOption], rules: Rules = .macOS
    ) throws(CommandFailure) {
        var reader = Reader(rest: words, options: options, rules: rules)
        try reader.read()
        occurrences = reader.occurrences
        operands = reader.operands + reader.rest
        for option in options where option.isRequired && !contains(option.name) {
            throw .usage("\(option.synopsis) is missing")
        }
        for occurrence in occurrences {
            guard case .accessGroup = occurrence.option.meaning, occurrence.value?.isText == false else { continue }
            throw .usage("the value of \(occurrence.option.name) must be UTF-8")
        }
    }

    /// Returns whether the command line has the option.
    func contains(_ name: String) -> Bool {
        occurrences.contains { $0.option.name == name }
    }

    /// The value of the option. The last occurrence wins.
    subscript(name: String) -> CommandWord? {
        occurrences.last { $0.option.name == name }?.value
    }

    /// Returns all values of the option, in order.
    func values(_ name: String) -> [String] {
        occurrences.filter { $0.option.name == name }.compactMap { $0.value?.text }
    }

    /// Returns all values of the option as paths, in order.
    func paths(_ name: String) -> [FilePath] {
        occurrences.filter { $0.option.name == name }.compactMap { $0.value?.path }
    }

    /// The access group that the options name.
    var accessGroup: String? {
        for occurrence in occurrences.reversed() {
            if case .accessGroup = occurrence.option.meaning { return occurrence.value?.text }
        }
        return nil
    }

    // MARK: Reading

    private struct Reader {
        var rest: ArraySlice<CommandWord>
        let options: [CommandOption]
        let rules: Rules
        var occurrences: [Occurrence] = []
        /// Those before options.
        var operands: [CommandWord] = []

        mutating func read() throws(CommandFailure) {
            while let word = rest.first {
                guard word.looksLikeOption else {
                    if case .macOS = rules { return }
                    operands.append(word)
                    rest = rest.dropFirst()
                    continue
                }
                rest = rest.dropFirst()
                if word == "--" { return }
                if word.hasPrefix("--") { try longOption(word) } else { try cluster(word) }
            }
        }

        private mutating func cluster(_ word: CommandWord) throws(CommandFailure) {
            var position = 1
            while position < word.count {
                let option = try find("-\(String(decoding: [word[position]], as: UTF8.self))")
                position += 1
                guard case .none = option.value else {
                    // The value is the rest of the cluster, or the next word.
                    guard position < word.count else { return try add(option, attached: nil) }
                    if case .latchkey = rules, word[position] == UInt8(ascii: "=") { position += 1 }
                    return try add(option, attached: word.dropping(position))
                }
                occurrences.append(Occurrence(option: option, value: nil))
            }
        }

        private mutating func longOption(_ word: CommandWord) throws(CommandFailure) {
            let end = (0..<word.count).first { word[$0] == UInt8(ascii: "=") }
            let name = (0..<(end ?? word.count)).map { word[$0] }
            let option = try find(String(decoding: name, as: UTF8.self))
            let attached = end.map { word.dropping($0 + 1) }
            guard case .none = option.value else { return try add(option, attached: attached) }
            guard attached == nil else { throw .usage("\(option.name) takes no value") }
            occurrences.append(Occurrence(option: option, value: nil))
        }

        /// Adds an option with its value.
        private mutating func add(_ option: CommandOption, attached: CommandWord?) throws(CommandFailure) {
            var value = attached
            if attached == nil, let next = rest.first, takesValue(next) {
                value = next
                rest = rest.dropFirst()
            }
            if case .pair = option.value { rest = rest.dropFirst() }
            if case .required(let what) = option.value, value == nil {
                throw .usage("\(option.name) must be followed by its value (\(what))")
            }
            occurrences.append(Occurrence(option: option, value: value))
        }

        private func takesValue(_ word: CommandWord) -> Bool {
            if case .macOS = rules { true } else { !word.looksLikeOption }
        }

        private func find(_ name: String) throws(CommandFailure) -> CommandOption {
            if let option = options.first(where: { $0.isNamed(name) }) { return option }
            guard case .latchkey(let refusal) = rules else { throw .usage("unknown option \(name)") }
            let question = similar(to: name).map { "; did you mean \($0)?" } ?? ""
            throw .usage(refusal ?? "unknown option \(name)\(question)")
        }

        private func similar(to name: String) -> String? {
            let names = options.filter { !$0.isHidden }.flatMap(\.names).filter { $0.hasPrefix("--") }
            return Suggestion.nearest(to: String(name.drop { $0 == "-" }), among: names.map { String($0.dropFirst(2)) })
                .map { "--\($0)" }
        }
    }
}

extension CommandWord {
    /// Whether the word is an option, or `--`.
    fileprivate var looksLikeOption: Bool { hasPrefix("-") && count > 1 }
}
