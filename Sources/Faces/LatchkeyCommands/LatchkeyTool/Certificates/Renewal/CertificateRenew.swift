// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CertificateTrust
internal import KeychainModel
internal import KeychainSessions
internal import LatchkeyService
internal import LinuxSystem
internal import SecretMemory

/// `latchkey certificate renew`.
struct CertificateRenew: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "renew", abstract: "Renew the certificate of an identity in the keychain.",
        discussion: """
            The new certificate has the subject and the extensions of the present one. It is stored beside it, under \
            the same label; programs that follow the identity use the certificate that became valid last. --request \
            writes a request for a CA instead, and --import stores its answer.

            After a renewal, the hooks run: those of --hook, then the executables in \
            $XDG_CONFIG_HOME/latchkey/renew-hooks.d (by default ~/.config), in the order of their names. The folder \
            and the files must be yours or root's, and not writable by others. A hook gets \
            LATCHKEY_RENEWED_LABEL, _SUBJECT, _SHA256, _NOT_AFTER, _PIN and _PREVIOUS_SHA256 in its environment.

            Exits with 1 if a hook fails; the certificate is then renewed nevertheless.

            EXAMPLES:
              latchkey certificate renew --self-signed --days 90 localhost
              latchkey certificate renew --issuer 'Home CA' --new-key \\
                  --hook ./reload.sh api.example.com
              latchkey certificate renew --request api.csr api.example.com
              latchkey certificate renew --import api.pem api.example.com
            """)

    @Flag(help: "Sign with the key of the certificate itself.")
    var selfSigned = false

    @Option(help: ArgumentHelp("Sign with the CA of this label or subject in the keychain.", valueName: "name"))
    var issuer: String?

    @Option(
        help: ArgumentHelp(
            "Write a request for a CA (PKCS #10) to this file; - is standard output.", valueName: "file"),
        completion: .file())
    var request: FilePath?

    @Option(
        name: .customLong("import"),
        help: ArgumentHelp("Store the certificate that a CA has issued.", valueName: "file"), completion: .file())
    var importFile: FilePath?

    @Flag(help: "Use a new key of the same kind.")
    var newKey = false

    @Option(help: ArgumentHelp("The validity in days.", valueName: "number"))
    var days = 90

    @Option(
        help: ArgumentHelp("A program to run afterwards, with its path; may be repeated.", valueName: "program"),
        completion: .file())
    var hook: [FilePath] = []

    @Flag(help: "Do not run the hooks of the folder.")
    var noHookFolder = false

    @Flag(name: [.customShort("n"), .long], help: "Only show the changes.")
    var dryRun = false

    @Option(help: ArgumentHelp("Only identities of this access group.", valueName: "group"))
    var accessGroup: String?

    @OptionGroup var prompting: PromptOptions
    @OptionGroup var passcode: PasscodeOptions

    @Argument(help: "The label of the identity, or its subject.")
    var name: String

    func validate() throws {
        let modes = [selfSigned, issuer != nil, request != nil, importFile != nil].filter { $0 }.count
        guard modes == 1 else {
            throw ValidationError("choose one of --self-signed, --issuer, --request and --import")
        }
        guard 1...825 ~= days else { throw ValidationError("--days must be between 1 and 825") }
        guard importFile == nil || !newKey else { throw ValidationError("--import and --new-key exclude each other") }
        guard hook.allSatisfy({ $0.bytes.contains(UInt8(ascii: "/")) }) else {
            throw ValidationError("--hook needs a path, such as ./reload.sh; PATH is not searched")
        }
    }

    func run(in session: CommandSession) throws(CommandFailure) {
        passcode.source.unlockOnDemand(in: session)
        let keychain = try session.keychain()
        let identity = try RenewedIdentity.named(name, group: accessGroup, in: keychain, for: prompting.person)
        let hooks = try RenewalHooks(programs: hook, usesFolder: !noHookFolder && request == nil)
        if let importFile {
            let answer = try Self.answer(importFile, for: identity, in: keychain, prompting.person, session)
            return try finish(answer[0], issuers: answer.dropFirst(), of: identity, hooks, keychain, session)
        }
        let authority = try issuer.map { (name) throws(CommandFailure) in
            try RenewedIdentity.named(name, group: accessGroup, in: keychain, for: prompting.person)
        }
        let window = try RenewalWindow(days: days, issuer: authority?.certificate)
        if dryRun {
            let what = request == nil ? "would renew" : "would request a certificate for"
            return try session.write(
                "\(what) \(identity.certificate.subjectSummary ?? name) until \(window.end), \(newKey ? "with a new key" : "with the same key")\n"
            )
        }
        // Before a key is generated, because after an error the key would remain without a certificate.
        let signer = request == nil ? authority ?? identity : identity
        let algorithm = try algorithm(of: signer)
        let generated = newKey ? try identity.generateKey(in: keychain, for: prompting.person) : nil
        let renewal = CertificateRenewal(identity.certificate, key: generated?.publicKey)
        let ownKey = generated?.privateHalf ?? identity.key
        if let request {
            let der = try signed(renewal.request(), algorithm, with: ownKey, keychain)
            let text = PEMText.of(der, label: "CERTIFICATE REQUEST")
            return try KeyFileIO.write(SharedSecret(copying: text.utf8), to: request, replaces: false, in: session)
        }
        let body = renewal.certificate(
            by: authority?.certificate, serialNumber: RandomBytes.array(count: 16), from: window.start,
            until: window.end, algorithm)
        let der = try signed(body, algorithm, with: authority?.key ?? ownKey, keychain)
        try finish(try Self.parsed(der), of: identity, hooks, keychain, session)
    }

    private func algorithm(of signer: RenewedIdentity) throws(CommandFailure) -> SigningAlgorithm {
        guard let algorithm = SigningAlgorithm(of: signer.certificate.publicKey) else {
            throw .parameter(
                "the key of \(signer.certificate.subjectSummary ?? name) cannot sign certificates",
                hint: "RSA of at least 2048 bits, P-256, P-384 and P-521 can")
        }
        return algorithm
    }

    private func signed(
        _ body: [UInt8], _ algorithm: SigningAlgorithm, with key: ItemRecord, _ keychain: KeychainSession
    ) throws(CommandFailure) -> [UInt8] {
        let signature = try RenewedIdentity.signature(
            of: body, algorithm, with: key, in: keychain, for: prompting.person)
        return CertificateRenewal.signed(body, signature, algorithm)
    }

    /// Stores the certificate, and runs the hooks.
    private func finish(
        _ renewed: Certificate, issuers: ArraySlice<Certificate> = [], of identity: RenewedIdentity,
        _ hooks: RenewalHooks, _ keychain: KeychainSession,
        _ session: CommandSession
    ) throws(CommandFailure) {
        if dryRun {
            return try session.write("would store a certificate that is valid until \(renewed.validity.notAfter)\n")
        }
        for issuer in issuers { try identity.storeIssuer(issuer, in: keychain) }
        try identity.store(renewed, in: keychain)
        session.io.say(
            "latchkey: renewed \(renewed.subjectSummary ?? name), valid until \(renewed.validity.notAfter)\n")
        guard hooks.run(RenewalFacts(renewed, identity), in: session) else { throw .reported(1) }
    }

    private static func parsed(_ der: [UInt8]) throws(CommandFailure) -> Certificate {
        do throws(CertificateError) { return try Certificate(der: der) } catch {
            throw .status(KeychainError(.internalFailure, "the new certificate cannot be read: \(error)"))
        }
    }

    /// The certificates of a CA's answer: the first is for the subject, and for a key that is in the
    /// keychain.
    private static func answer(
        _ file: FilePath, for identity: RenewedIdentity, in keychain: KeychainSession, _ person: PersonPrompt,
        _ session: CommandSession
    ) throws(CommandFailure) -> [Certificate] {
        let certificates = try CertificateFiles.read([file], in: session)
        guard let leaf = certificates.first else {
            throw .status(KeychainError(.decode, "no certificate found in \(file)"))
        }
        guard leaf.subject.matches(identity.certificate.subject) else {
            throw .parameter("the certificate is for \(leaf.subject), not for \(identity.certificate.subject)")
        }
        let keys = try KeySearch.all(
            [.applicationLabel: .data(leaf.publicKeyHash), .keyClass: .number(KeyHalf.privateKey.rawValue)],
            group: identity.key.accessGroup.name, in: keychain, for: person)
        guard !keys.isEmpty else {
            throw .status(
                KeychainError(
                    .itemNotFound, "the private key of the certificate in \(file) is not in the keychain",
                    hint: "latchkey certificate renew --request makes a request for a key that is"))
        }
        return certificates
    }
}
