// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import KeychainSessions
internal import KeyServices
internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyOperations
internal import LatchkeyService
internal import LinuxSystem
internal import SecretMemory

/// `security import`.
enum ImportItems: SecurityCommand {
    static let definition = CommandDefinition(
        name: "import", summary: "Import the keys and certificates of a file, or another keyring.",
        options: [
            CommandOption("-k", .required("keychain"), help: "the keychain"),
            CommandOption(
                "-t", .required("type"), help: "accepted: pub, priv, cert or agg; the whole file is imported"),
            CommandOption("-f", .required("format"), help: "accepted; the format is detected"),
            CommandOption("-w", help: "accepted; encrypted keys are detected"),
            CommandOption("-x", help: "import private keys as not extractable"),
            CommandOption("-P", .required("passphrase"), help: "the passphrase of the file"),
            CommandOption(
                "--passphrase-file", .required("file"), help: "like -P, in a file of mode 0600 (Latchkey's addition)"),
            CommandOption("-a", .pair("name value"), help: "accepted; other attributes are not set"),
            .everyProgram, .trustedProgram,
            CommandOption(
                "-l", .required("label"), as: .attribute(.label, .text), help: "the label (Latchkey's addition)"),
            CommandOption("--tag", .required("tag"), help: "the application tag (Latchkey's addition)"), .accessGroup,
            CommandOption(
                KeyringImport.option, .required("keyring"),
                help: "import gnome-keyring or kwallet instead of a file (Latchkey's addition)"),
        ],
        operands: "file",
        notes: [
            """
            Keys are read in PEM and DER, as PKCS#1, PKCS#8 (plain or encrypted), SEC 1, SubjectPublicKeyInfo and \
            OpenSSH (without a passphrase): RSA, and ECDSA on P-256, P-384 and P-521. Certificates are read in PEM, DER \
            and PKCS#7; both in PKCS#12. A key and its certificate are an identity.
            """,
            "A passphrase on the command line is visible to every process that may list processes.",
            """
            With --from, the command has other options: 'latchkey import --from gnome-keyring --help' shows them.
            """,
        ] + CommandOption.accessListNotes,
        examples: [
            "import identity.p12 --passphrase-file ~/.pass", "import identity.p12 -t cert -f pkcs12 -P passphrase",
            "import key.pem -x",
            "import id_ecdsa --tag com.example.key -l 'Deploy key'", "import --from gnome-keyring --dry-run",
        ],
        takesOperandFirst: true)

    static func run(_ arguments: ParsedArguments, in session: CommandSession) throws(CommandFailure) {
        guard let file = arguments.operands.first, arguments.operands.count == 1 else {
            throw .usage("the file is missing")
        }
        try TypeHint.check(arguments["-t"]?.text)
        let keychain = try KeychainOperand.changed(arguments["-k"], in: session).session
        let passphrase = try KeyFilePassphrase.read(arguments, in: session)
        let path = file.path
        let bytes = try KeyFileIO.read(path)
        let found = try CommandFailure.mapErrors(function) { () throws(KeychainError) in
            try ImportedFile(bytes, passphrase: passphrase)
        }
        for note in found.notes { session.warn("\(path), \(note)") }
        if found.keys.contains(where: { $0.entry.publicKey.kind.isWeak }) {
            session.warn(
                "RSA keys of less than 2048 bits are weak",
                hint: "latchkey key generate --type rsa --size 3072 --tag TAG")
        }
        let name = (path.lastComponent ?? path).description
        let additions = try CommandFailure.mapErrors(function) { () throws(KeychainError) in
            try ItemAdditions(found, named: name, arguments)
        }
        let count = try additions.add(to: keychain)
        guard !count.isEmpty else { throw .line("security: SecItemImport: no keychain items were found in \(path)") }
        try session.write(count.text)
    }

    static let function = "SecItemImport"
}

/// The value of `-t`. It is only a hint, as on macOS: the file determines its own content, and all of it is imported.
private enum TypeHint {
    static func check(_ type: String?) throws(CommandFailure) {
        switch type {
        case nil, "agg", "priv", "pub", "cert": return
        case "session": throw .status(KeychainError(.unimplemented, "session keys are not supported by this version"))
        default: throw .usage("-t must be pub, priv, session, cert or agg")
        }
    }
}

/// The items of a file, ready to be added.
private struct ItemAdditions {
    private var identities: [IdentityAddition] = []
    private var keys: [ItemAddition] = []
    private var certificates: [ItemAddition] = []

    init(_ file: ImportedFile, named name: String, _ arguments: ParsedArguments) throws(KeychainError) {
        var joined: Set<Certificate> = []
        for (entry, label) in file.keys {
            let own = try file.certificate(for: entry)
            let title = label ?? own?.label ?? own?.certificate.subjectSummary ?? name
            let key = try Self.addition(entry, title, arguments)
            if let own, joined.insert(own.certificate).inserted {
                identities.append(
                    IdentityAddition(
                        certificate: Self.addition(own.certificate, own.label ?? label, arguments), key: key))
            } else {
                keys.append(key)
            }
        }
        for (certificate, label) in file.certificates where joined.insert(certificate).inserted {
            certificates.append(Self.addition(certificate, label, arguments))
        }
    }

    private static func addition(_ entry: KeyFileEntry, _ label: String, _ arguments: ParsedArguments)
        throws(KeychainError) -> ItemAddition
    {
        var attributes: [ItemAttribute: AttributeValue]
        let data: SharedSecret
        switch entry {
        case .privateKey(let key):
            attributes = try KeyAttributes.standard(key.publicKey, .privateKey)
            data = try key.external()
            if arguments.contains("-x") { attributes[.isExtractable] = .number(0) }
        case .publicKey(let key):
            attributes = try KeyAttributes.standard(key, .publicKey)
            data = SharedSecret(copying: key.external)
        }
        attributes[.label] = arguments["-l"]?.attributeValue ?? .string(label)
        if let tag = arguments["--tag"] { attributes[.applicationTag] = .data(tag.bytes) }
        attributes[.accessList] = try arguments.accessList(named: attributes[.label])
        return ItemAddition(
            .key, attributes: attributes, secrets: ItemSecrets(data: data), accessGroup: arguments.accessGroup)
    }

    private static func addition(_ certificate: Certificate, _ label: String?, _ arguments: ParsedArguments)
        -> ItemAddition
    {
        var addition = CertificateItems.addition(certificate, accessGroup: arguments.accessGroup)
        if let label = arguments["-l"]?.attributeValue ?? label.map({ .string($0) }) {
            addition.attributes[.label] = label
        }
        return addition
    }

    /// Adds the items, identities first. One half of an identity may already exist.
    func add(to keychain: KeychainSession) throws(CommandFailure) -> ImportCount {
        try CommandFailure.mapErrors(ImportItems.function) { () throws(KeychainError) in
            var count = ImportCount()
            for identity in identities {
                _ = try keychain.addIdentities([identity])
                count.identities += 1
            }
            for key in keys {
                _ = try keychain.add(key)
                count.keys += 1
            }
            for certificate in certificates {
                _ = try keychain.add(certificate)
                count.certificates += 1
            }
            return count
        }
    }
}

/// How many items were imported (keychain-behaviour §8.5).
private struct ImportCount {
    var identities = 0
    var keys = 0
    var certificates = 0

    var isEmpty: Bool { identities + keys + certificates == 0 }

    var text: TerminalText {
        [(identities, "identity", "identities"), (keys, "key", "keys"), (certificates, "certificate", "certificates")]
            .filter { $0.0 > 0 }.map { "\($0.0) \($0.0 == 1 ? $0.1 : $0.2) imported.\n" }.joined()
    }
}
