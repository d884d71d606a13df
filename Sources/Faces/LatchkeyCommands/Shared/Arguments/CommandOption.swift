// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// One option of a sub-command: its name, its value, its meaning and its help text.
///
/// Parsing, usage texts and queries are all based on these definitions.
struct CommandOption: Sendable {
    /// `-a`; `--access-group` for an option that macOS does not have.
    let name: String
    /// Further names: `-f`.
    let others: [String]
    let value: Value
    let meaning: Meaning
    /// The completion of the value in shells, if its name does not say it.
    private let givenCompletion: Completion?
    let help: String
    let isRequired: Bool
    /// Whether help and completions omit the option.
    let isHidden: Bool

    /// - Parameter completion: nil for files, if the name of the value says that it is one.
    init(
        _ name: String, or others: String..., value: Value = .none, as meaning: Meaning = .plain,
        completion: Completion? = nil, isRequired: Bool = false, isHidden: Bool = false, help: String
    ) {
        self.name = name
        self.others = others
        self.value = value
        self.meaning = meaning
        givenCompletion = completion
        self.help = help
        self.isRequired = isRequired
        self.isHidden = isHidden
    }

    /// An option with one name.
    init(_ name: String, _ value: Value, as meaning: Meaning = .plain, isRequired: Bool = false, help: String) {
        self.init(name, value: value, as: meaning, isRequired: isRequired, help: help)
    }

    enum Value: Sendable {
        case none
        /// The rest of the cluster, or the next word, even if it begins with `-`.
        case required(String)
        /// Two words; the second is ignored: `-a name value`.
        case pair(String)
        /// Like `required`, but without a value if the option is the last word of the command line.
        case optional(String)

        /// The name of the value in usage lines; nil for a flag.
        var name: String? {
            switch self {
            case .required(let name), .pair(let name), .optional(let name): name
            case .none: nil
            }
        }

        /// Whether the next word is always the value.
        var takesNextWord: Bool {
            switch self {
            case .required, .pair: true
            case .none, .optional: false
            }
        }

        /// Whether the value is a file, or a keychain, because a keychain can be a file.
        fileprivate var namesFile: Bool {
            guard takesNextWord, let name else { return false }
            return ["file", "path", "directory", "keychain"].contains { name.contains($0) }
        }
    }

    enum Completion: Equatable, Sendable {
        case nothing, files
        /// One of these words; the option accepts no others.
        case words([String])
    }

    enum Meaning: Sendable {
        /// The command reads the option by its name.
        case plain
        /// An attribute to search for or to store.
        case attribute(ItemAttribute, AttributeForm)
        /// The secret itself, as text or in hexadecimal.
        case password, hexadecimalPassword
        /// The file that holds the secret.
        case secretFile
        /// The access group to search or to add to.
        case accessGroup
    }

    func required() -> CommandOption {
        CommandOption(name, value, as: meaning, isRequired: true, help: help)
    }

    /// The completion of the value in shells. Only completions and help ask for it: to look at every name takes longer
    /// than to parse a command line.
    var completion: Completion { givenCompletion ?? (value.namesFile ? .files : .nothing) }

    /// The option as usage lines show it: `-a account`.
    var synopsis: String {
        switch value {
        case .none: name
        case .required(let value), .pair(let value): "\(name) \(value)"
        case .optional(let value): "\(name) [\(value)]"
        }
    }

    /// The help text with the words that the option accepts.
    var fullHelp: String {
        guard case .words(let words) = completion else { return help }
        return "\(help) (values: \(words.joined(separator: ", ")))"
    }

    /// Whether the option may be part of a cluster such as `-gw`.
    var isShort: Bool { Self.isShort(name) }

    /// All names, the short ones first.
    var names: [String] { others.filter(Self.isShort) + [name] + others.filter { !Self.isShort($0) } }

    func isNamed(_ name: String) -> Bool { self.name == name || others.contains(name) }

    private static func isShort(_ name: String) -> Bool { !name.hasPrefix("--") }
}

/// How the word after an option is converted to an attribute value.
enum AttributeForm: Sendable {
    /// Unchanged.
    case text
    /// Up to four characters, padded with spaces: `htps`, `ssh `.
    case code
    /// Like `code`, as a number with the first character as its highest byte.
    case codeNumber
    /// A port, 0 to 65535.
    case port
}
