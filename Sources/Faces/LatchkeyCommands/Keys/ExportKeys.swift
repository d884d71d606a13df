// SPDX-License-Identifier: Apache-2.0

internal import KeyServices
internal import KeychainModel
internal import LatchkeyService
internal import SecretMemory

/// `security export`, for keys.
enum ExportKeys: SecurityCommand {
    static let definition = CommandDefinition(
        name: "export", summary: "Write the keys of the keychain to a file.",
        options: [
            CommandOption("-k", .required("keychain"), help: "the keychain"),
            CommandOption("-t", .required("type"), help: "allKeys, pubKeys or privKeys; allKeys where it is not given"),
            CommandOption("-f", .required("format"), help: "openssl (PKCS#1, SEC 1), pkcs8, openssh2, bsafe (the bare bytes), pemseq"),
            CommandOption("-w", help: "encrypt private keys, in PKCS#8"),
            CommandOption("-p", help: "accepted; keys are text by themselves"),
            CommandOption("-P", .required("passphrase"), help: "the passphrase to encrypt under"),
            CommandOption("--passphrase-file", .required("file"), help: "the same in a file of mode 0600 (Latchkey's addition)"),
            CommandOption("-o", .required("file"), help: "the file to write; it must not exist"),
            CommandOption("-l", .required("label"), as: .attribute(.label, .text), help: "only keys with this label (Latchkey's addition)"),
            CommandOption("--tag", .required("tag"), help: "only keys with this tag (Latchkey's addition)"), .accessGroup,
        ] + CommandOption.passcode,
        notes: ["Keys that may not be given out are passed over, and named. Certificates and identities come with a later version."],
        examples: [
            "export -t pubKeys -f pkcs8", "export -t privKeys --tag com.example.key -w --passphrase-file ~/.pass -o key.pem",
        ])

    static func run(_ arguments: ParsedArguments, in session: CommandSession) throws(CommandFailure) {
        guard arguments.operands.isEmpty else { throw .usage("no word is expected behind the options") }
        let half = try half(arguments["-t"]?.text)
        let keychain = try KeychainOperand.check(arguments["-k"].map { [$0] } ?? [], in: session)
        var attributes = try arguments.attributes()
        if let tag = arguments["--tag"] { attributes[.applicationTag] = .data(tag.bytes) }
        if let half { attributes[.keyClass] = .number(half.rawValue) }
        let found = try KeySearch.all(attributes, group: arguments.accessGroup, in: keychain, for: session)
        let passphrase = try KeyFilePassphrase.read(arguments, in: session)
        if arguments.contains("-w"), passphrase == nil { throw .usage("-w needs a passphrase: -P or --passphrase-file") }
        let format = Format(try structure(arguments["-f"]?.text, passphrase), passphrase)
        var files: [SharedSecret] = []
        for record in found {
            if let file = try format.file(of: record, in: keychain, session) { files.append(file) }
        }
        guard !files.isEmpty else { throw .status(.itemNotFound, of: "SecItemExport") }
        guard files.count == 1 || format.structure != .external else {
            throw .parameter(
                "the bare bytes of \(files.count) keys cannot be told apart in one file", hint: "--tag and -t name one of them")
        }
        let whole = joined(files)
        try KeyStreams.write(whole, to: arguments["-o"]?.text, replaces: false, in: session)
        if let path = arguments["-o"]?.text { session.io.say("...\(whole.count) bytes written to \(path)\n") }
    }

    private static func half(_ type: String?) throws(CommandFailure) -> KeyHalf? {
        switch type {
        case nil, "allKeys", "all": return nil
        case "pubKeys": return .publicKey
        case "privKeys": return .privateKey
        case "certs", "identities":
            throw .status(KeychainError(.unimplemented, "certificates and identities are not exported by this version"))
        default: throw .usage("-t is certs, allKeys, pubKeys, privKeys, identities or all")
        }
    }

    private static func structure(_ format: String?, _ passphrase: SharedSecret?) throws(CommandFailure) -> KeyFile.Structure {
        switch format {
        case nil, "pemseq", "openssl": return passphrase == nil ? .traditional : .pkcs8
        case "pkcs8": return .pkcs8
        case "openssh2", "openssh1": return .openSSH
        case "bsafe": return .external
        case "pkcs7", "pkcs12", "x509":
            throw .status(KeychainError(.unimplemented, "the format '\(format ?? "")' is not one for keys alone"))
        default: throw .usage("-f is openssl, openssh2, bsafe, pkcs8 or pemseq")
        }
    }

    private static func joined(_ files: [SharedSecret]) -> SharedSecret {
        SharedSecret(
            SecretBytes(count: files.reduce(0) { $0 + $1.count }) { buffer in
                var rest = buffer[...]
                for file in files {
                    file.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: rest.prefix(file.count)).copyMemory(from: $0) }
                    rest = rest.dropFirst(file.count)
                }
            })
    }

    private struct Format {
        let structure: KeyFile.Structure
        let passphrase: SharedSecret?

        init(_ structure: KeyFile.Structure, _ passphrase: SharedSecret?) {
            self.structure = structure
            self.passphrase = passphrase
        }

        /// nil for a key that may not be given out.
        func file(
            of record: ItemRecord, in keychain: any KeychainService, _ session: CommandSession
        ) throws(CommandFailure) -> SharedSecret? {
            let name = KeyText(record)
            if !name.isExtractable, name.half == "private" {
                session.remark("a key that may not be given out was passed over: \(name.tag ?? name.label ?? name.kind)")
                return nil
            }
            guard name.half != "symmetric", name.kind != "other" else {
                session.remark("a key of a kind that is only kept was passed over: \(name.tag ?? name.label ?? "no name")")
                return nil
            }
            return try CommandFailure.naming("SecItemExport") { () throws(KeychainError) in
                let info = try keychain.publicKey(of: record.persistentReference, from: session.caller)
                guard info.half == .privateKey else { return try KeyFile.write(.publicKey(.of(info)), as: structure) }
                let external = try keychain.exportKey(record.persistentReference, from: session.caller).bytes
                let key = try external.withUnsafeBytes { (bytes) throws(KeychainError) in
                    try SoftwareKey(external: bytes, type: info.kind.type, isOwn: true)
                }
                return try KeyFile.write(.privateKey(key), as: structure, passphrase: passphrase)
            }
        }
    }
}
