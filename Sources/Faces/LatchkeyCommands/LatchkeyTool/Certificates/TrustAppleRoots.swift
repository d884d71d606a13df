// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CertificateTrust
internal import LinuxSystem

/// `latchkey trust apple-roots`.
struct TrustAppleRoots: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "apple-roots",
        abstract: "Trust Apple's root certificates for code signing.",
        discussion: """
            Neither Latchkey nor a distribution has these certificates. Apple publishes them at \
            https://www.apple.com/certificateauthority/: AppleIncRootCertificate.cer, AppleRootCA-G2.cer and \
            AppleRootCA-G3.cer. Each certificate is identified by its SHA-256. If there is any other one, or one \
            with other trust settings, nothing is changed. They are trusted for code signing alone, in the trust \
            settings of the user. 'security remove-trusted-cert FILE' ends that.

            EXAMPLES:
              latchkey trust apple-roots --dry-run AppleIncRootCertificate.cer
              latchkey trust apple-roots AppleIncRootCertificate.cer AppleRootCA-G3.cer
              security remove-trusted-cert AppleRootCA-G3.cer
            """)

    @Flag(help: "Check the certificates, and change nothing.")
    var dryRun = false

    @Flag(help: "Print JSON, an array.")
    var json = false

    @Argument(help: "Files in PEM or DER.", completion: .file())
    var files: [FilePath]

    func run(in session: CommandSession) throws(CommandFailure) {
        let roots = try Self.roots(in: files, known: AppleProfile.roots, in: session)
        let domain = try TrustSettingsDomain(isAdminDomain: false)
        var settings = try domain.load()
        let validationTime = try ValidationTime.validationTime(nil)
        for root in roots { try Self.trust(root, in: &settings, at: validationTime) }
        if !dryRun { try domain.save(settings) }
        if json { return try session.write(JSONText.of(roots.map(Root.init))) }
        for root in roots {
            try session.write(
                "\(dryRun ? "would trust" : "trusted") for code signing: \(root.subjectSummary ?? "\(root.subject)")\n")
        }
    }

    /// Returns the certificates of the files.
    ///
    /// - Parameter known: the SHA-256 of the certificates that are accepted.
    /// - Throws: errSecParam if there is another certificate.
    static func roots(
        in files: [FilePath], known: Set<[UInt8]>, in session: CommandSession
    ) throws(CommandFailure) -> [Certificate] {
        var roots: [Certificate] = []
        for file in files {
            for certificate in try CertificateFiles.read([file], in: session) {
                guard known.contains(certificate.sha256) else {
                    throw .parameter(
                        """
                        \(file): \(certificate.subject) is not one of Apple's roots: its SHA-256 is \
                        \(Hexadecimal.text(certificate.sha256))
                        """,
                        hint: """
                            intermediate certificates need no trust: \
                            security add-certificates \(file.description.shellQuoted)
                            """)
                }
                if !roots.contains(certificate) { roots.append(certificate) }
            }
        }
        return roots
    }

    /// Trusts a root for code signing alone.
    ///
    /// - Throws: errSecParam if the root has other settings; they stay.
    static func trust(
        _ root: Certificate, in settings: inout TrustSettings, at validationTime: Double
    ) throws(CommandFailure) {
        let codeSigning = [TrustSetting(.trustRoot, policy: .codeSigning)]
        let existing = settings.entries.first { $0.certificate == root }?.settings
        guard existing == nil || existing == codeSigning else {
            throw .parameter(
                "\(root.subject) has other trust settings already; nothing is changed",
                hint: "security dump-trust-settings shows them; security remove-trusted-cert FILE removes them")
        }
        settings.set(codeSigning, of: root, at: validationTime)
    }

    private struct Root: Encodable {
        let subject: String
        /// Hexadecimal.
        let sha256: String

        init(_ certificate: Certificate) {
            subject = certificate.subject.description
            sha256 = Hexadecimal.text(certificate.sha256)
        }
    }
}
