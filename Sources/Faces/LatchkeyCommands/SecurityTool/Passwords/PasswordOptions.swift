// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// The options of the password commands (keychain-behaviour §8.2).
extension CommandOption {
    static let account = CommandOption("-a", .required("account"), as: .attribute(.account, .text), help: "the account")
    static let service = CommandOption("-s", .required("service"), as: .attribute(.service, .text), help: "the service")
    static let server = CommandOption("-s", .required("server"), as: .attribute(.server, .text), help: "the server")
    static let label = CommandOption(
        "-l", .required("label"), as: .attribute(.label, .text), help: "the label, the item's display name")
    static let kind = CommandOption(
        "-D", .required("kind"), as: .attribute(.itemDescription, .text), help: "the kind, a description")
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

    /// The criteria for generic passwords.
    static let genericCriteria = [account, service, label, kind, comment, generic, creator, type]
    /// The criteria for internet passwords.
    static let internetCriteria = [
        account, server, securityDomain, path, port, `protocol`, authenticationType, label, kind, comment, creator,
        type,
    ]
}

// MARK: - Adding

extension CommandOption {
    /// Returns the options for adding an item with these attributes. The account and the service or
    /// server are required.
    static func addition(_ criteria: [CommandOption], oldSpelling: [CommandOption] = []) -> [CommandOption] {
        let described = criteria.map { option in
            option.name == "-a" || option.name == "-s" ? option.required() : option
        }
        return described + oldSpelling + [
            CommandOption(
                "-w", .optional("password"), as: .password, help: "the password; prompted for if -w is the last word"),
            CommandOption("-X", .required("digits"), as: .hexadecimalPassword, help: "the password in hexadecimal"),
            CommandOption(
                "--secret-file", .required("file"), as: .secretFile,
                help: "read the password from a file; - is standard input (Latchkey's addition)"),
            CommandOption("-U", help: "update the item if it exists"),
            everyProgram, trustedProgram,
            CommandOption(
                "--access-group", .required("group"), as: .accessGroup,
                help: "the access group to add to (Latchkey's addition)"),
            CommandOption(
                "--access-control", .required("list"),
                help: "the requirements of a use of the item, as below (Latchkey's addition)"),
            CommandOption(
                "--accessible", .required("class"),
                help: "the protection class, as below (Latchkey's addition)"),
        ]
    }

    static let accessControlNotes = [
        """
        The flags of --access-control are Apple's: \(AccessControlFlags.listedNames); several are joined by a comma, \
        by ,and, or by ,or,. Reading the item or its attributes then asks the person. The classes of --accessible are \
        \(ProtectionClass.listedNames). Without it, a new item gets the class complete, and an existing one keeps its \
        class.
        """
    ]

    static let oldPassword = CommandOption(
        "-p", .required("password"), as: .password, help: "old spelling of -w, with a value")

    /// The help notes of every command that takes a password.
    static let passwordNotes = [
        """
        A password on the command line is visible to every process that may list processes, and stays in the \
        shell's history; this program cannot wipe it there. Use -w as the last word instead: the password is then \
        prompted for twice on the terminal, without echo; if standard input is not a terminal, all of it is the \
        password, without one final line feed. Two lines must be equal, and are one password, as on macOS, also \
        in 'security -i'. --secret-file reads all lines of a file, or of standard input if the file is -.
        """,
        """
        With -U, an existing item in the access group with the same account and service (or server and other given \
        key attributes) gets the given attributes and password; its other attributes do not change.
        """,
    ]
}
