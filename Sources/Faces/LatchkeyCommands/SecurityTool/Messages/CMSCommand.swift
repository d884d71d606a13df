// SPDX-License-Identifier: Apache-2.0

internal import CryptographicMessages
internal import KeychainModel
internal import LinuxSystem
internal import SecretMemory

/// `security cms`.
enum CMSCommand: SecurityCommand {
    static let definition = CommandDefinition(
        name: "cms", summary: "Sign, encrypt, verify and decrypt messages (CMS, RFC 5652).",
        options: [
            CommandOption("-D", help: "decode: verify or decrypt a message, and write its content"),
            CommandOption("-S", help: "write a signed message"),
            CommandOption("-E", help: "write an encrypted message for recipients"),
            CommandOption("-C", help: "EncryptedData (not supported)"),
            CommandOption("-i", .required("file"), help: "the input (default: standard input)"),
            CommandOption("-o", .required("file"), help: "the output (default: standard output); it is replaced"),
            CommandOption("-c", .required("file"), help: "with -D: the content of a message with a detached signature"),
            CommandOption("-h", .required("level"), help: "with -D: write a line about the message before the content"),
            CommandOption("-n", help: "with -D: do not write the content"),
            CommandOption(
                "-u", .required("usage"),
                help: "with -D: required trust: 0, 1 (ssl), 4 (email), 6 (code) or 10 (any)"),
            CommandOption("-N", .required("name"), help: "with -S: common name or email address of an identity"),
            CommandOption(
                "-Z", .required("hash"), help: "with -S: key identifier, SHA-1 or SHA-256 of its certificate"),
            CommandOption("-H", .required("hash"), help: "with -S: SHA256 (default), SHA384 or SHA512"),
            CommandOption("-T", help: "with -S: leave the content out of the message"),
            CommandOption("-G", help: "with -S: sign the time as well"),
            CommandOption("-P", help: "with -S: announce the ciphers that the signer can decrypt"),
            CommandOption("-Y", .required("name"), help: "not supported"),
            CommandOption(
                "-r", .required("names"), help: "with -E: common names or email addresses, separated by commas"),
            CommandOption("-e", .required("file"), help: "not supported"),
            CommandOption("-k", .required("keychain"), help: "the keychain (default: the search list)"),
            CommandOption("-p", .required("password"), help: "accepted; the keychain's lock decides"),
            CommandOption("-s", help: "accepted"),
            CommandOption("-v", help: "print the result of each signature on standard error"), .accessGroup,
        ] + CommandOption.prompt + CommandOption.passcode,
        notes: [
            """
            -D writes the content only if every signature is valid, else it exits with 1. A certificate that is not \
            trusted is reported on standard error and does not prevent it, because Apple's roots, the anchors of \
            provisioning profiles, are not installed here. With -u it does. A signature with SHA-1 or a short key is \
            reported in the same way.
            """,
            """
            Encrypted messages do not show who sent them. Their content is encrypted with AES-256-CBC, for RSA keys and \
            keys of elliptic curves.
            """,
        ],
        examples: [
            "cms -D -i App.mobileprovision",
            "cms -S -N 'Alice Example' -G -i letter.txt -o letter.p7m",
            "cms -S -T -N alice@example.com -i letter.txt -o letter.p7s",
            "cms -D -c letter.txt -i letter.p7s -u 4 -n",
            "cms -E -r alice@example.com,bob@example.com -i letter.txt -o letter.p7m",
        ])

    static func run(_ arguments: ParsedArguments, in session: CommandSession) throws(CommandFailure) {
        guard arguments.operands.isEmpty else { throw .usage("no operand is expected") }
        let modes = ["-D", "-S", "-E", "-C"].filter(arguments.contains)
        guard let mode = modes.first, modes.count == 1 else { throw .usage("one of -D, -S, -E and -C is required") }
        for (option, part) in [("-C", "EncryptedData"), ("-e", "an envelope"), ("-Y", "a key preference")]
        where arguments.contains(option) {
            throw .line("security: cms: \(part) (\(option)) is not supported by this version")
        }
        switch mode {
        case "-S": try MessageSigning(arguments, session).run()
        case "-E": try MessageEncryption(arguments, session).run()
        default: try MessageDecoding(arguments, session).run()
        }
    }
}

/// The common parts of the kinds of `cms`: input, output and the keychain.
struct MessageStreams {
    private let arguments: ParsedArguments
    private let session: CommandSession

    init(_ arguments: ParsedArguments, _ session: CommandSession) {
        self.arguments = arguments
        self.session = session
    }

    /// The bytes of `-i`, or of standard input.
    func input() throws(CommandFailure) -> [UInt8] { try bytes(of: arguments["-i"]?.path ?? "-") }

    /// The bytes of a file.
    func bytes(of path: FilePath) throws(CommandFailure) -> [UInt8] {
        do throws(KeychainError) {
            return try SecretInput.read(path, maxCount: MessageLimits.standard.byteCount).withUnsafeBytes { Array($0) }
        } catch {
            throw .line("security: cms: \(error.problem)")
        }
    }

    /// Writes to `-o`, or to standard output.
    func write(_ bytes: [UInt8]) throws(CommandFailure) {
        try KeyFileIO.write(SharedSecret(copying: bytes), to: arguments["-o"]?.path, replaces: true, in: session)
    }

    /// The keychain that `-k` names, or those of the search list.
    func keychains() throws(CommandFailure) -> [CommandKeychain] {
        try KeychainOperand.searched(arguments["-k"].map { [$0] } ?? [], in: session)
    }

    /// Runs a call about a message; its errors are one line and exit value 1, except for those of the
    /// keychain.
    static func message<Result>(_ body: () throws(KeychainError) -> Result) throws(CommandFailure) -> Result {
        try withErrors(
            as: { error -> CommandFailure in
                switch error.status {
                case .unknownFormat, .dataTooLarge, .unimplemented, .decode, .param, .keyUsageIncorrect:
                    .line("security: cms: \(error.problem)")
                default: .status(error, of: "cms")
                }
            }, body)
    }
}
