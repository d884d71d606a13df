// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// The words after a sub-command's name, split into options and operands.
///
/// The rules are those of macOS's getopt: flags cluster (`-wl LABEL`); a value is the rest of its
/// cluster or the next word, even if that begins with `-`; options end at the first operand or
/// after `--`.
struct ParsedArguments: Sendable {
    /// The options in the order of the command line.
    let occurrences: [Occurrence]
    let operands: [CommandWord]

    struct Occurrence: Sendable {
        let option: CommandOption
        /// nil for a flag, and for an optional value that is absent.
        let value: CommandWord?
    }

    /// - Throws: ``CommandFailure/usage(_:)``.
    init(_ words: ArraySlice<CommandWord>, options: [CommandOption]) throws(CommandFailure) {
        var rest = words
        var occurrences: [Occurrence] = []
        while let word = rest.first, word.hasPrefix("-"), word.count > 1 {
            rest = rest.dropFirst()
            if word == "--" { break }
            if word.hasPrefix("--") {
                occurrences.append(try Self.longOption(word, &rest, options))
            } else {
                try Self.cluster(word, &rest, options, into: &occurrences)
            }
        }
        self.occurrences = occurrences
        operands = Array(rest)
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

    private static func cluster(
        _ word: CommandWord, _ rest: inout ArraySlice<CommandWord>, _ options: [CommandOption],
        into occurrences: inout [Occurrence]
    ) throws(CommandFailure) {
        var position = 1
        while position < word.count {
            let option = try find("-\(String(decoding: [word[position]], as: UTF8.self))", in: options)
            position += 1
            guard case .none = option.value else {
                // The value is the rest of the cluster, or the next word.
                let isLast = position == word.count
                let value = isLast ? rest.first : word.dropping(position)
                if isLast { rest = rest.dropFirst() }
                if case .pair = option.value { rest = rest.dropFirst() }
                occurrences.append(try occurrence(of: option, value))
                return
            }
            occurrences.append(Occurrence(option: option, value: nil))
        }
    }

    private static func longOption(
        _ word: CommandWord, _ rest: inout ArraySlice<CommandWord>, _ options: [CommandOption]
    ) throws(CommandFailure) -> Occurrence {
        let end = (0..<word.count).first { word[$0] == UInt8(ascii: "=") }
        let name = (0..<(end ?? word.count)).map { word[$0] }
        let option = try find(String(decoding: name, as: UTF8.self), in: options)
        let attached = end.map { word.dropping($0 + 1) }
        if case .none = option.value {
            guard attached == nil else { throw .usage("\(option.name) takes no value") }
            return Occurrence(option: option, value: nil)
        }
        if let attached { return Occurrence(option: option, value: attached) }
        let value = rest.first
        rest = rest.dropFirst()
        return try occurrence(of: option, value)
    }

    private static func occurrence(of option: CommandOption, _ value: CommandWord?) throws(CommandFailure) -> Occurrence
    {
        if case .required(let what) = option.value, value == nil {
            throw .usage("\(option.name) must be followed by its value (\(what))")
        }
        return Occurrence(option: option, value: value)
    }

    private static func find(_ name: String, in options: [CommandOption]) throws(CommandFailure) -> CommandOption {
        guard let option = options.first(where: { $0.name == name }) else { throw .usage("unknown option \(name)") }
        return option
    }
}
