// SPDX-License-Identifier: Apache-2.0

internal import KeyServices
internal import KeychainModel
internal import LatchkeyService
internal import SecretMemory

/// `security import`, for keys.
enum ImportKeys: SecurityCommand {
    static let definition = CommandDefinition(
        name: "import", summary: "Bring the keys of a file into the keychain.",
        options: [
            CommandOption("-k", .required("keychain"), help: "the keychain"),
            CommandOption("-t", .required("type"), help: "pub or priv; found out where it is not given"),
            CommandOption("-f", .required("format"), help: "accepted; the format is found out"),
            CommandOption("-w", help: "accepted; encrypted keys are known by themselves"),
            CommandOption("-x", help: "private keys are never given out again"),
            CommandOption("-P", .required("passphrase"), help: "the passphrase of the file"),
            CommandOption("--passphrase-file", .required("file"), help: "the same in a file of mode 0600 (Latchkey's addition)"),
            CommandOption("-a", .pair("name value"), help: "accepted; other attributes are not set"),
            CommandOption("-A", help: "accepted; programs are kept apart by access groups"),
            CommandOption("-T", .required("program"), help: "accepted; programs are kept apart by access groups"),
            CommandOption("-l", .required("label"), as: .attribute(.label, .text), help: "the label (Latchkey's addition)"),
            CommandOption("--tag", .required("tag"), help: "the application tag (Latchkey's addition)"), .accessGroup,
        ],
        operands: "file",
        notes: [
            "Keys are read in PEM and DER, as PKCS#1, PKCS#8 (plain or encrypted), SEC 1 and SubjectPublicKeyInfo, and as OpenSSH's.",
            """
            A passphrase on the command line can be read by every process that may list processes. Certificates, and PKCS#12, come with a \
            later version.
            """,
        ],
        examples: ["import key.pem -x", "import id_ecdsa --tag com.example.key -l 'Deploy key'"],
        takesOperandFirst: true)

    static func run(_ arguments: ParsedArguments, in session: CommandSession) throws(CommandFailure) {
        guard let file = arguments.operands.first, arguments.operands.count == 1 else { throw .usage("the file is missing") }
        let keychain = try KeychainOperand.check(arguments["-k"].map { [$0] } ?? [], in: session)
        let passphrase = try KeyFilePassphrase.read(arguments, in: session)
        let path = file.text
        let bytes = try KeyStreams.read(path)
        let entries = try CommandFailure.naming("SecItemImport") { () throws(KeychainError) in
            try bytes.withUnsafeBytes { (bytes) throws(KeychainError) in try KeyFile.read(bytes, passphrase: passphrase) }
        }
        let name = path.split(separator: "/").last.map(String.init) ?? path
        var count = 0
        if entries.contains(where: { $0.publicKey.kind.isWeak }) {
            session.remark("RSA keys of less than 2048 bits protect little", hint: "latchkey key generate --type rsa --size 3072 --tag TAG")
        }
        for entry in entries where try isWanted(entry, arguments) {
            let item = try CommandFailure.naming("SecItemImport") { () throws(KeychainError) in
                try addition(of: entry, named: name, arguments)
            }
            _ = try CommandFailure.naming("SecItemImport") { () throws(KeychainError) in try keychain.add(item, from: session.caller) }
            count += 1
        }
        guard count > 0 else { throw .line("security: SecItemImport: no keychain items were found in \(path)") }
        try session.write("\(count) \(count == 1 ? "key" : "keys") imported.\n")
    }

    private static func isWanted(_ entry: KeyFileEntry, _ arguments: ParsedArguments) throws(CommandFailure) -> Bool {
        switch (arguments["-t"]?.text, entry) {
        case (nil, _), ("agg", _), ("priv", .privateKey), ("pub", .publicKey): return true
        case ("priv", _), ("pub", _): return false
        case ("cert", _), ("session", _):
            throw .status(KeychainError(.unimplemented, "certificates and session keys are not served by this version"))
        default: throw .usage("-t is pub, priv, session, cert or agg")
        }
    }

    private static func addition(
        of entry: KeyFileEntry, named name: String, _ arguments: ParsedArguments
    ) throws(KeychainError) -> ItemAddition {
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
        attributes[.label] = arguments["-l"]?.attributeValue ?? .string(name)
        if let tag = arguments["--tag"] { attributes[.applicationTag] = .data(tag.bytes) }
        return ItemAddition(.key, attributes: attributes, secrets: ItemSecrets(data: data), accessGroup: arguments.accessGroup)
    }
}

/// The passphrase of a file of keys, from the command line or from a file.
enum KeyFilePassphrase {
    static func read(_ arguments: ParsedArguments, in session: CommandSession) throws(CommandFailure) -> SharedSecret? {
        if let path = arguments["--passphrase-file"] {
            let source = PasscodeSource(file: path.text, fileOption: "--passphrase-file", usesEnvironment: false)
            return try CommandFailure.naming(nil) { () throws(KeychainError) in try source.read("passphrase: ", in: session) }
        }
        return arguments["-P"]?.secret
    }
}
