// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import KeychainSessions
internal import KeyServices
internal import KeychainModel
internal import LatchkeyOperations
internal import LatchkeyService
internal import LinuxSystem
internal import SecretMemory

/// Keys and certificates to write to a file.
struct ExportedItems {
    private var keys: [(entry: KeyFileEntry, label: String?)] = []
    private var certificates: [(certificate: Certificate, label: String?)] = []

    /// - Throws: errSecItemNotFound if there are none.
    init(
        _ selection: ExportSelection, _ arguments: ParsedArguments, in keychain: KeychainSession,
        for session: CommandSession
    ) throws(CommandFailure) {
        let person = PersonPrompt()
        var attributes = try arguments.attributes()
        var found: [CertificateItems.StoredCertificate] = []
        var records: [ItemRecord] = []
        if selection.isIdentities {
            let label = attributes[.label]
            let identities = try CertificateItems.identities(
                group: arguments.accessGroup, in: keychain, for: person
            )
            .filter { label == nil || $0.found.record[.label] == label || $0.key[.label] == label }
            var seen: Set<ItemIdentifier> = []
            found = identities.map(\.found).filter { seen.insert($0.record.identifier).inserted }
            records = identities.map(\.key).filter { seen.insert($0.identifier).inserted }
        } else {
            if selection.hasCertificates, arguments["--tag"] == nil {
                found = try CertificateItems.all(attributes, group: arguments.accessGroup, in: keychain)
            }
            if let tag = arguments["--tag"] { attributes[.applicationTag] = .data(tag.bytes) }
            if let half = selection.half { attributes[.keyClass] = .number(half.rawValue) }
            if selection.hasKeys {
                records = try KeySearch.all(attributes, group: arguments.accessGroup, in: keychain, for: person)
            }
        }
        certificates = found.map { ($0.certificate, $0.record[.label]?.text) }
        for record in records {
            if let entry = try Self.entry(record, in: keychain, session, for: person) {
                keys.append((entry, record[.label]?.text))
            }
        }
        guard !keys.isEmpty || !certificates.isEmpty else { throw .status(.itemNotFound, of: Self.function) }
    }

    private static let function = "SecItemExport"

    /// Returns nil for a key that cannot be exported.
    private static func entry(
        _ record: ItemRecord, in keychain: KeychainSession, _ session: CommandSession, for person: PersonPrompt
    ) throws(CommandFailure) -> KeyFileEntry? {
        let name = KeyReport(record)
        if !name.isExtractable, name.half == "private" {
            session.warn("skipped a key that is not extractable: \(name.tag ?? name.label ?? name.kind)")
            return nil
        }
        guard name.half != "symmetric", name.kind != "other" else {
            session.warn("skipped a key of an unsupported kind: \(name.tag ?? name.label ?? "no name")")
            return nil
        }
        return try CommandFailure.mapErrors(function) { () throws(KeychainError) in
            let info = try keychain.publicKey(of: record.persistentReference)
            guard info.half == .privateKey else { return .publicKey(try .of(info)) }
            let external = try person.perform { (authentication) throws(KeychainError) in
                try keychain.exportKey(record.persistentReference, authentication: authentication).bytes
            }
            return try external.withUnsafeBytes { (bytes) throws(KeychainError) in
                .privateKey(try SoftwareKey(external: bytes, type: info.kind.type, isTrusted: true))
            }
        }
    }

    // MARK: Formats

    func file(_ format: String?, _ passphrase: SharedSecret?, _ arguments: ParsedArguments) throws(CommandFailure)
        -> SharedSecret
    {
        guard format == "pkcs12" || !arguments.contains("--legacy") && !arguments.contains("--pbmac1") else {
            throw .usage("--legacy and --pbmac1 are for -f pkcs12")
        }
        switch format {
        case "pkcs12": return try pkcs12(passphrase, as: try Self.form(arguments))
        case "x509": return try x509(certificatesAlone(in: "x509"), isPEM: arguments.contains("-p"))
        case "pkcs7":
            let der = CertificateBundle.pkcs7(try certificatesAlone(in: "pkcs7"))
            return SharedSecret(copying: arguments.contains("-p") ? Array(PEMText.of(der, label: "PKCS7").utf8) : der)
        default: return try sequence(try structure(format, passphrase), passphrase)
        }
    }

    private func structure(_ format: String?, _ passphrase: SharedSecret?) throws(CommandFailure) -> KeyFile.Structure {
        switch format {
        case nil, "pemseq", "openssl": return passphrase == nil ? .traditional : .pkcs8
        case "pkcs8": return .pkcs8
        case "openssh2", "openssh1": return .openSSH
        case "bsafe": return .external
        default: throw .usage("-f must be pemseq, openssl, openssh2, bsafe, pkcs8, x509, pkcs7 or pkcs12")
        }
    }

    /// Returns the keys and then the certificates, one after the other.
    private func sequence(_ structure: KeyFile.Structure, _ passphrase: SharedSecret?) throws(CommandFailure)
        -> SharedSecret
    {
        guard structure != .external || keys.count == 1 && certificates.isEmpty else {
            throw .parameter(
                "bsafe holds one key, but \(keys.count + certificates.count) items were found",
                hint: "select one key with --tag and -t")
        }
        var files: [SharedSecret] = []
        for (entry, _) in keys {
            files.append(
                try CommandFailure.mapErrors(Self.function) { () throws(KeychainError) in
                    if case .publicKey = entry { return try KeyFile.write(entry, as: structure) }
                    return try KeyFile.write(entry, as: structure, passphrase: passphrase)
                })
        }
        return SharedSecret(
            joining: files + certificates.map { SharedSecret(copying: PEMText.of($0.certificate.der).utf8) })
    }

    private static func form(_ arguments: ParsedArguments) throws(CommandFailure) -> PKCS12File.Form {
        switch (arguments.contains("--legacy"), arguments.contains("--pbmac1")) {
        case (true, true): throw .usage("--legacy and --pbmac1 exclude each other")
        case (true, false): return .legacy
        case (false, true): return .pbmac1
        case (false, false): return .common
        }
    }

    private func pkcs12(_ passphrase: SharedSecret?, as form: PKCS12File.Form) throws(CommandFailure) -> SharedSecret {
        guard let passphrase else { throw .usage("pkcs12 needs a passphrase: -P or --passphrase-file") }
        let privateKeys = keys.compactMap { entry, label in
            if case .privateKey(let key) = entry {
                PKCS12File.KeyEntry(key: key, label: label)
            } else {
                PKCS12File.KeyEntry?.none
            }
        }
        guard !privateKeys.isEmpty || !certificates.isEmpty else { throw .status(.itemNotFound, of: Self.function) }
        let file = PKCS12File(
            certificates: certificates.map { PKCS12File.CertificateEntry(der: $0.certificate.der, label: $0.label) },
            keys: privateKeys)
        let hashes = Dictionary(certificates.map { ($0.certificate.der, $0.certificate.publicKeyHash) }) { first, _ in
            first
        }
        return try CommandFailure.mapErrors(Self.function) { () throws(KeychainError) in
            try file.written(under: passphrase, as: form) { hashes[$0] }
        }
    }

    private func certificatesAlone(in format: String) throws(CommandFailure) -> [Certificate] {
        guard keys.isEmpty else { throw .parameter("\(format) cannot hold keys", hint: "-t certs") }
        return certificates.map(\.certificate)
    }

    private func x509(_ certificates: [Certificate], isPEM: Bool) throws(CommandFailure) -> SharedSecret {
        if isPEM { return SharedSecret(copying: certificates.map { PEMText.of($0.der) }.joined().utf8) }
        guard certificates.count == 1 else {
            throw .parameter(
                "x509 holds one certificate, but \(certificates.count) were found", hint: "-p, -f pemseq, or -l LABEL")
        }
        return SharedSecret(copying: certificates[0].der)
    }
}
