// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import KeychainModel
internal import LinuxSystem

/// `security find-certificate`.
enum FindCertificate: SecurityCommand {
    static let definition = CommandDefinition(
        name: "find-certificate", summary: "Show a certificate of the keychain.",
        options: [
            CommandOption("-a", help: "show every match, not only the first"),
            CommandOption("-c", .required("name"), help: "part of the common name, case-insensitive"),
            CommandOption("-e", .required("mail"), help: "an email address of the certificate"),
            CommandOption("-m", help: "print the email addresses"), CommandOption("-p", help: "print PEM"),
            CommandOption("-Z", help: "print SHA-256 and SHA-1 of the certificate"), .accessGroup,
        ] + CommandOption.passcode,
        operands: "[keychain...]", examples: ["find-certificate -c example.com -p", "find-certificate -a -Z"])

    static func run(_ arguments: ParsedArguments, in session: CommandSession) throws(CommandFailure) {
        let all = try KeychainOperand.searched(arguments.operands, in: session).all(in: session) {
            (keychain) throws(CommandFailure) in
            try CertificateItems.all(group: arguments.accessGroup, in: keychain)
        }
        let (name, mail) = (arguments["-c"]?.text.lowercased(), arguments["-e"]?.text.lowercased())
        let matching = all.filter { (found, _) in
            let isNamed = name.map { (found.certificate.commonName ?? "").lowercased().contains($0) } ?? true
            return isNamed
                && (mail.map { found.certificate.emailAddresses.map { $0.lowercased() }.contains($0) } ?? true)
        }
        let isAll = arguments.contains("-a")
        guard isAll || !matching.isEmpty else { throw .status(.itemNotFound, of: PasswordSearch.function) }
        for (found, keychain) in isAll ? matching : Array(matching.prefix(1)) {
            try session.write(text(of: found, keychain: try keychain.path(), arguments))
        }
    }

    private static func text(
        of found: CertificateItems.StoredCertificate, keychain: String, _ arguments: ParsedArguments
    ) -> TerminalText {
        var text = TerminalText()
        if arguments.contains("-Z") {
            text += "SHA-256 hash: \(Hexadecimal.text(found.certificate.sha256, isUppercase: true))\n"
            text += "SHA-1 hash: \(Hexadecimal.text(found.certificate.sha1, isUppercase: true))\n"
        }
        if arguments.contains("-m") {
            text += "email addresses: \(found.certificate.emailAddresses.joined(separator: ", "))\n"
        }
        return text
            + (arguments.contains("-p")
                ? TerminalText(lines: PEMText.of(found.certificate.der))
                : ItemBlock(record: found.record, keychain: keychain).text)
    }
}
