// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// One option of a sub-command: its name, whether a value follows, what it stands for, and what help says of it.
///
/// Parsing, usage text and the making of queries are all driven by these.
struct CommandOption: Sendable {
    /// `-a`, or `--access-group` for what macOS does not have.
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
        /// The rest of the cluster, or the next word, whatever it is.
        case required(String)
        /// Two words, of which the second is passed over: `-a name value`.
        case pair(String)
        /// The same as one required word; no value where the option is the last word of the command line.
        case optional(String)
    }

    enum Meaning: Sendable {
        /// The command looks at it by name.
        case plain
        /// An attribute that is searched for or stored.
        case attribute(ItemAttribute, AttributeForm)
        /// The secret itself, as it is or in hexadecimal.
        case password, hexadecimalPassword
        /// The file that holds the secret.
        case secretFile
        /// The access group that is searched or added to.
        case accessGroup
    }

    func required() -> CommandOption {
        CommandOption(name, value, as: meaning, isRequired: true, help: help)
    }

    /// `-a account`, as usage lines show it.
    var synopsis: String {
        switch value {
        case .none: name
        case .required(let value), .pair(let value): "\(name) \(value)"
        case .optional(let value): "\(name) [\(value)]"
        }
    }

    /// Whether the option can stand in a cluster such as `-gw`.
    var isShort: Bool { !name.hasPrefix("--") }
}

/// How the word after an option becomes the value of an attribute.
enum AttributeForm: Sendable {
    /// As it is.
    case text
    /// Up to four characters, filled up with blanks: `htps`, `ssh `.
    case code
    /// The same as a number, the first character in its highest byte.
    case codeNumber
    /// A port, 0 to 65535.
    case port
}
