// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// One option of a sub-command: its name, its value, its meaning and its help text.
///
/// Parsing, usage texts and queries are all based on these definitions.
struct CommandOption: Sendable {
    /// `-a`; `--access-group` for an option that macOS does not have.
    let name: String
    let value: Value
    let meaning: Meaning
    let help: String
    let isRequired: Bool

    init(_ name: String, _ value: Value = .none, as meaning: Meaning = .plain, isRequired: Bool = false, help: String) {
        self.name = name
        self.value = value
        self.meaning = meaning
        self.help = help
        self.isRequired = isRequired
    }

    enum Value: Sendable {
        case none
        /// The rest of the cluster, or the next word, even if it begins with `-`.
        case required(String)
        /// Two words, of which the second is ignored: `-a name value`.
        case pair(String)
        /// Like `required`, but without a value if the option is the last word of the command line.
        case optional(String)
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

    /// The option as usage lines show it: `-a account`.
    var synopsis: String {
        switch value {
        case .none: name
        case .required(let value), .pair(let value): "\(name) \(value)"
        case .optional(let value): "\(name) [\(value)]"
        }
    }

    /// Whether the option may be part of a cluster such as `-gw`.
    var isShort: Bool { !name.hasPrefix("--") }
}

/// How the word after an option is converted to an attribute value.
enum AttributeForm: Sendable {
    /// Unchanged.
    case text
    /// Up to four characters, padded with spaces: `htps`, `ssh `.
    case code
    /// Like `code`, as a number whose highest byte is the first character.
    case codeNumber
    /// A port, 0 to 65535.
    case port
}
