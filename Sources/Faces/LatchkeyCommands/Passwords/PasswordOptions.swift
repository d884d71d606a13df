// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// The options of the password commands, once for all of them (keychain-behaviour §8.2).
extension CommandOption {
    static let account = CommandOption("-a", .required("account"), as: .attribute(.account, .text), help: "the account")
    static let service = CommandOption("-s", .required("service"), as: .attribute(.service, .text), help: "the service")
    static let server = CommandOption("-s", .required("server"), as: .attribute(.server, .text), help: "the server")
    static let label = CommandOption(
        "-l", .required("label"), as: .attribute(.label, .text), help: "the label, the item's name for people")
    static let kind = CommandOption(
        "-D", .required("kind"), as: .attribute(.itemDescription, .text), help: "the kind, in words")
    static let comment = CommandOption("-j", .required("comment"), as: .attribute(.comment, .text), help: "the comment")
    static let generic = CommandOption(
        "-G", .required("value"), as: .attribute(.generic, .text), help: "the generic attribute")
    static let creator = CommandOption(
        "-c", .required("creator"), as: .attribute(.creator, .codeNumber), help: "the creator, 4 characters")
    static let type = CommandOption(
        "-C", .required("type"), as: .attribute(.type, .codeNumber), help: "the type, 4 characters")
    static let securityDomain = CommandOption(
        "-d", .required("domain"), as: .attribute(.securityDomain, .text), help: "the security domain (realm)")
    static let path = CommandOption(
        "-p", .required("path"), as: .attribute(.path, .text), help: "the path on the server")
    static let port = CommandOption("-P", .required("port"), as: .attribute(.port, .port), help: "the port, 0 to 65535")
    static let `protocol` = CommandOption(
        "-r", .required("protocol"), as: .attribute(.protocol, .code),
        help: "the protocol, 4 characters: htps, http, 'ssh '")
    static let authenticationType = CommandOption(
        "-t", .required("type"), as: .attribute(.authenticationType, .code),
        help: "the authentication type, 4 characters: form, http")

    static let accessGroup = CommandOption(
        "--access-group", .required("group"), as: .accessGroup, help: "only this access group (Latchkey's addition)")

    /// What a generic password is searched for by.
    static let genericCriteria = [account, service, label, kind, comment, generic, creator, type]
    /// What an internet password is searched for by.
    static let internetCriteria = [
        account, server, securityDomain, path, port, `protocol`, authenticationType, label, kind, comment, creator,
        type,
    ]
}

// MARK: - Adding

extension CommandOption {
    /// The options for adding an item with these attributes, of which account and service or server must be given.
    static func addition(_ criteria: [CommandOption], oldSpelling: [CommandOption] = []) -> [CommandOption] {
        let described = criteria.map { option in
            option.name == "-a" || option.name == "-s" ? option.required() : option
        }
        return described + oldSpelling + [
            CommandOption(
                "-w", .optional("password"), as: .password, help: "the password; asked for where -w is the last word"),
            CommandOption("-X", .required("digits"), as: .hexadecimalPassword, help: "the password in hexadecimal"),
            CommandOption(
                "--secret-file", .required("file"), as: .secretFile,
                help: "the whole of this file; - is standard input (Latchkey's addition)"),
            CommandOption("-U", help: "replace the item where there is one"),
            CommandOption("-A", help: "accepted; programs are kept apart by access groups"),
            CommandOption("-T", .required("program"), help: "accepted; programs are kept apart by access groups"),
            CommandOption(
                "--access-group", .required("group"), as: .accessGroup,
                help: "the access group to add to (Latchkey's addition)"),
        ]
    }

    static let oldPassword = CommandOption(
        "-p", .required("password"), as: .password, help: "old spelling of -w, with a value")

    /// What help says of every command that takes a password.
    static let passwordNotes = [
        """
        A password on the command line can be read by every process that may list processes, and stays in the shell's history; \
        this program cannot wipe it there. Better: let -w be the last word. Then the password is asked for twice on the terminal \
        without being shown; where standard input is no terminal, all of it is the password, less one line end behind it. \
        --secret-file takes a file in the same way. After 'security -i' the password is read from two equal lines, as on macOS.
        """,
        """
        With -U, an item with the same account and service (or server and what else was given of its key) in the access group gets \
        the given attributes and the given password; what is not given stays as it was.
        """,
    ]
}
