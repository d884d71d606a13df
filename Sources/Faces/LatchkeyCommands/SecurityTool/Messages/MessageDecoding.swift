// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import CryptographicMessages
internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyService
internal import LinuxSystem

/// `security cms -D`.
struct MessageDecoding {
    private let arguments: ParsedArguments
    private let session: CommandSession
    private let streams: MessageStreams
    private let usage: TrustPolicy?

    init(_ arguments: ParsedArguments, _ session: CommandSession) throws(CommandFailure) {
        self.arguments = arguments
        self.session = session
        streams = MessageStreams(arguments, session)
        usage = try Self.policy(arguments["-u"]?.text)
        guard arguments["-h"].map({ Int($0.text) != nil }) ?? true else { throw .usage("-h must be a number") }
    }

    func run() throws(CommandFailure) {
        if arguments.contains("-k") { _ = try streams.keychains() }
        let bytes = try streams.input()
        var message = try MessageStreams.message { () throws(KeychainError) in try CryptographicMessage(bytes) }
        var lines: [String] = []
        if case .enveloped(let enveloped) = message {
            lines.append("type=envelopedData; recipients=\(enveloped.recipients.count)")
            message = try decrypted(enveloped)
        }
        switch message {
        case .data(let content):
            lines.append("type=data")
            if usage != nil { throw .line("security: cms: the message is not signed, as -u requires") }
            try write(content, lines)
        case .signed(let signed):
            lines.append(try verify(signed))
            try write(signed.content, lines)
        case .enveloped: throw .line("security: cms: an encrypted message inside of another is not supported")
        }
    }

    /// Writes the requested output, when everything has been verified.
    private func write(_ content: ArraySlice<UInt8>?, _ lines: [String]) throws(CommandFailure) {
        var output: [UInt8] = []
        if arguments.contains("-h") {
            // The text of a certificate may contain anything.
            for (level, line) in lines.enumerated() {
                output += "SMIME: level=\(level); \(PrintableText(line, maxLength: 4096).string)\n".utf8
            }
            output += "\n".utf8
        }
        if !arguments.contains("-n"), let content { output += content }
        if arguments.contains("-n"), output.isEmpty, arguments["-o"] == nil { return }
        try streams.write(output)
    }

    // MARK: Encryption

    /// Decrypts with the first identity of the keychain that is a recipient.
    private func decrypted(_ message: EnvelopedMessage) throws(CommandFailure) -> CryptographicMessage {
        let person = try PersonPrompt(arguments)
        let identities = try streams.keychains().all(in: session) { (keychain) throws(CommandFailure) in
            try CertificateItems.identities(group: arguments.accessGroup, in: keychain, for: person)
        }
        for (identity, keychain) in identities {
            guard let recipient = message.recipient(identity.found.certificate) else { continue }
            let key = try KeySearch.privateKey(identity.key, in: keychain.session, for: person)
            return try MessageStreams.message { () throws(KeychainError) in
                let content = try message.content(for: recipient, by: key)
                return message.contentType == .cmsSignedData
                    ? try CryptographicMessage(type: message.contentType, content: content) : .data(content[...])
            }
        }
        throw .status(
            KeychainError(
                .itemNotFound, "no identity of the keychain is a recipient of the message",
                hint: "security find-identity"), of: "cms")
    }

    // MARK: Signatures

    /// Verifies every signature, and the certificates with `-u`.
    ///
    /// - Returns: the line about the message.
    /// - Throws: exit value 1 if a signature is not valid.
    private func verify(_ message: SignedMessage) throws(CommandFailure) -> String {
        // `map` would not keep the typed throw.
        let detached: [UInt8]? = if let path = arguments["-c"]?.path { try streams.bytes(of: path) } else { nil }
        let isComplete = message.signers.allSatisfy { message.certificate(of: $0) != nil }
        let verdicts = message.verdicts(
            detachedContent: detached, certificates: isComplete ? [] : KeychainCertificates.allStored())
        if verdicts.isEmpty {
            guard usage == nil else { throw .line("security: cms: the message has no signature, as -u requires") }
            session.warn("warning: the message has no signature")
        }
        var parts = ["type=signedData", "nsigners=\(verdicts.count)"]
        let now = try ValidationTime.validationTime(nil)
        for (index, verdict) in verdicts.enumerated() {
            let certificate = try check(verdict, index, message, at: now)
            parts.append("signer\(index).id=\"\(certificate.subjectSummary ?? "")\"")
            parts.append("signer\(index).status=GoodSignature")
        }
        return parts.joined(separator: "; ")
    }

    /// Reports one verdict.
    ///
    /// - Throws: exit value 1 if the signature is not valid, or with `-u` not enough.
    private func check(
        _ verdict: SignerVerdict, _ index: Int, _ message: SignedMessage, at now: Double
    ) throws(CommandFailure) -> Certificate {
        guard let certificate = verdict.certificate else {
            if case .needsContent = verdict {
                throw .line("security: cms: the content is not in the message (-c FILE)")
            }
            throw .line("security: cms: signer \(index) is not valid: \(verdict.description)")
        }
        if case .weak(_, let reason) = verdict {
            guard usage == nil else {
                throw .line("security: cms: the signature of signer \(index) is weak: \(reason)")
            }
            session.warn("warning: the signature of signer \(index) is weak: \(reason)")
        }
        let others = message.certificates.filter { $0 != certificate }
        var evaluation = TrustEvaluation([certificate] + others, policies: [usage ?? .basicX509], at: now)
        evaluation.issuers = KeychainCertificates.issuers
        evaluation.take(TrustSettingsDomain.all)
        let trust = evaluation.verdict()
        if let failure = trust.failure, !trust.isTrusted {
            let explanation = trust.explanation(failure)
            guard usage == nil else {
                throw .line("security: cms: the certificate of signer \(index) is not trusted: \(explanation)")
            }
            session.warn("warning: the certificate of signer \(index) is not trusted: \(explanation)")
        }
        if arguments.contains("-v") {
            session.io.say("signer \(index): \(certificate.subject), \(verdict.description)\n")
        }
        return certificate
    }

    /// The policy for a number of macOS's `-u`.
    private static func policy(_ number: String?) throws(CommandFailure) -> TrustPolicy? {
        switch number {
        case nil: return nil
        case "0": return .client(nil)
        case "1", "2": return .server(nil)
        case "4", "5": return .mail(address: nil)
        case "6", "9": return .codeSigning
        case "3", "7", "8", "10", "11": return .basicX509
        default: throw .usage("-u must be a number from 0 to 11")
        }
    }
}
