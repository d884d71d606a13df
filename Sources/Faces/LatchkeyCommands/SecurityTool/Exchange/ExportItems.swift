// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import KeyServices
internal import KeychainModel
internal import LatchkeyService
internal import LinuxSystem
internal import SecretMemory

/// `security export`.
enum ExportItems: SecurityCommand {
    static let definition = CommandDefinition(
        name: "export", summary: "Write the keys, certificates and identities of the keychain to a file.",
        options: [
            CommandOption("-k", .required("keychain"), help: "the keychain"),
            CommandOption(
                "-t", .required("type"), help: "certs, allKeys, pubKeys, privKeys, identities or all (default)"),
            CommandOption(
                "-f", .required("format"), help: "pemseq, openssl, pkcs8, openssh2, bsafe; x509, pkcs7, pkcs12"),
            CommandOption("-w", help: "encrypt private keys, in PKCS#8"),
            CommandOption("-p", help: "write x509 and pkcs7 as PEM; no effect on keys"),
            CommandOption("-P", .required("passphrase"), help: "the passphrase for encryption"),
            CommandOption(
                "--passphrase-file", .required("file"), help: "like -P, in a file of mode 0600 (Latchkey's addition)"),
            CommandOption("--legacy", help: "pkcs12 for systems that support only Triple DES (Latchkey's addition)"),
            CommandOption("--pbmac1", help: "pkcs12 with PBMAC1, for new systems (Latchkey's addition)"),
            CommandOption("-o", .required("file"), help: "the file to write; it must not exist"),
            CommandOption(
                "-l", .required("label"), as: .attribute(.label, .text),
                help: "only with this label (Latchkey's addition)"),
            CommandOption("--tag", .required("tag"), help: "only keys with this tag (Latchkey's addition)"),
            .accessGroup,
        ] + CommandOption.passcode,
        notes: [
            """
            Keys that are not extractable are skipped and reported. pkcs12 holds identities, certificates and private \
            keys.
            """
        ],
        examples: [
            "export -t identities -f pkcs12 --passphrase-file ~/.pass -o identities.p12",
            "export -t certs -f pemseq > certificates.pem",
            "export -t pubKeys -f pkcs8",
            "export -t privKeys --tag com.example.key -w --passphrase-file ~/.pass -o key.pem",
        ])

    static func run(_ arguments: ParsedArguments, in session: CommandSession) throws(CommandFailure) {
        guard arguments.operands.isEmpty else { throw .usage("no operand is expected") }
        let selection = try ExportSelection(arguments["-t"]?.text)
        let keychain = try KeychainOperand.one(arguments["-k"], in: session).session
        let found = try ExportedItems(selection, arguments, in: keychain, for: session)
        let passphrase = try KeyFilePassphrase.read(arguments, in: session)
        if arguments.contains("-w"), passphrase == nil {
            throw .usage("-w needs a passphrase: -P or --passphrase-file")
        }
        let whole = try found.file(arguments["-f"]?.text, passphrase, arguments)
        try KeyFileIO.write(whole, to: arguments["-o"]?.path, replaces: false, in: session)
        if let path = arguments["-o"]?.path { session.io.say("...\(whole.count) bytes written to \(path)\n") }
    }
}
