// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import KeychainModel
internal import LatchkeyOperations
internal import LatchkeyService
internal import LinuxSystem

/// `security add-trusted-cert`.
enum AddTrustedCert: SecurityCommand {
    static let definition = CommandDefinition(
        name: "add-trusted-cert", summary: "Trust or distrust a certificate.",
        options: [
            CommandOption("-d", help: "for all users, in /etc/latchkey; requires root"),
            CommandOption("-r", .required("result"), help: "trustRoot (default), trustAsRoot, deny or unspecified"),
            CommandOption("-p", .required("policy"), help: "only for ssl, smime, codeSign, timestamping or basic"),
            CommandOption("-s", .required("name"), help: "only for this host or email address"),
            CommandOption("-e", .required("error"), help: "allow certExpired, hostnameMismatch, or a status"),
            CommandOption("-k", .required("keychain"), help: "add the certificate to the keychain as well"),
            CommandOption("-i", .required("file"), help: "change the settings of this file"),
            CommandOption("-o", .required("file"), help: "write the settings to this file"),
        ],
        operands: "certificate...",
        notes: [
            """
            A self-signed certificate is trusted as a root; any other certificate needs trustAsRoot. Every program \
            that you run can change these settings, too. Settings for one program (-a) or one key usage (-u) are not \
            supported.
            """
        ],
        examples: [
            "add-trusted-cert ca.pem", "add-trusted-cert -r trustAsRoot -p ssl -s example.com server.pem",
            "add-trusted-cert -r deny bad.pem",
        ])

    static func run(_ arguments: ParsedArguments, in session: CommandSession) throws(CommandFailure) {
        guard !arguments.operands.isEmpty else { throw .usage("the certificate is missing") }
        let settings = try settings(arguments)
        let certificates = try CertificateFiles.read(arguments.operands.map(\.path), in: session)
        let validationTime = try ValidationTime.validationTime(nil)
        if settings.contains(where: { $0.result == .trustRoot }),
            let other = certificates.first(where: { !$0.isSelfIssued })
        {
            throw .parameter(
                "\(other.subjectSummary ?? "the certificate") is not self-signed", hint: "-r trustAsRoot")
        }
        if let input = arguments["-i"]?.path, let output = arguments["-o"]?.path ?? arguments["-i"]?.path {
            var changed = try TrustSettingsText.read(input, known: certificates)
            for certificate in certificates { changed.set(settings, of: certificate, at: validationTime) }
            return try TrustSettingsText.write(changed, to: output, replaces: input == output, in: session)
        }
        let domain = try TrustSettingsDomain(arguments)
        var changed = arguments["-o"] == nil ? try domain.load() : TrustSettings()
        for certificate in certificates { changed.set(settings, of: certificate, at: validationTime) }
        if let output = arguments["-o"]?.path {
            return try TrustSettingsText.write(changed, to: output, replaces: false, in: session)
        }
        try domain.save(changed)
        if let keychain = arguments["-k"] { try add(certificates, to: keychain, in: session) }
    }

    private static func add(_ certificates: [Certificate], to name: CommandWord, in session: CommandSession)
        throws(CommandFailure)
    {
        // macOS keeps the settings of -d in System.keychain: the settings contain the certificate.
        let keychain = try KeychainOperand.one(name, in: session)
        guard keychain.name != nil else { return }
        for certificate in certificates {
            do throws(KeychainError) {
                _ = try keychain.session.add(CertificateItems.addition(certificate, accessGroup: nil))
            } catch {
                guard error.status == .duplicateItem else { throw .status(error, of: "SecCertificateAddToKeychain") }
            }
        }
    }

    private static func settings(_ arguments: ParsedArguments) throws(CommandFailure) -> [TrustSetting] {
        var results: [String: TrustSetting.Result] = [:]
        for result in TrustSetting.Result.allCases { results["\(result)"] = result }
        guard let result = results[arguments["-r"]?.text ?? "trustRoot"] else {
            throw .usage("-r must be trustRoot, trustAsRoot, deny or unspecified")
        }
        var setting = TrustSetting(result, name: arguments["-s"]?.text)
        if let error = arguments["-e"]?.text { setting.allowedError = try rule(error) }
        let policies = arguments.values("-p")
        guard !policies.isEmpty else { return [setting] }
        var each: [TrustSetting] = []
        for name in policies {
            for policy in try policy(name) {
                setting.policy = policy
                each.append(setting)
            }
        }
        return each
    }

    private static func policy(_ name: String) throws(CommandFailure) -> [TrustSetting.Policy] {
        switch name {
        case "ssl": return [.server, .client]
        case "smime": return [.mail]
        case "codeSign": return [.codeSigning]
        case "timestamping": return [.timeStamping]
        case "basic": return [.basic]
        default:
            throw .status(
                KeychainError(
                    .unimplemented, "the policy '\(name)' is not supported",
                    hint: "-p ssl, smime, codeSign, timestamping or basic"))
        }
    }

    private static func rule(_ name: String) throws(CommandFailure) -> TrustRule {
        switch name {
        case "certExpired": return .expired
        case "hostnameMismatch": return .serverName
        default:
            guard let code = Int32(name), let rule = TrustRule.allCases.first(where: { $0.status.rawValue == code }),
                rule.isAllowable
            else {
                throw .parameter(
                    "the error '\(name)' cannot be allowed", hint: "-e certExpired, or -e hostnameMismatch"
                )
            }
            return rule
        }
    }
}
