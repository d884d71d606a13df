// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import CryptographicMessages
internal import KeychainModel
internal import LatchkeyService
internal import LinuxSystem

/// `security cms -E`.
struct MessageEncryption {
    private let arguments: ParsedArguments
    private let session: CommandSession
    private let streams: MessageStreams

    init(_ arguments: ParsedArguments, _ session: CommandSession) {
        self.arguments = arguments
        self.session = session
        streams = MessageStreams(arguments, session)
    }

    func run() throws(CommandFailure) {
        let names = arguments.values("-r").flatMap { $0.split(separator: ",") }.map { word in
            String(word.drop { $0 == " " })
        }
        guard !names.isEmpty else { throw .usage("-r is required with -E") }
        let known = try streams.keychains().all(in: session) { (keychain) throws(CommandFailure) in
            try CertificateItems.all(group: arguments.accessGroup, in: keychain).map(\.certificate)
        }.map(\.value)
        var recipients: [Certificate] = []
        for name in names { recipients.append(try Self.recipient(name, known)) }
        var draft = EnvelopedMessageDraft(content: try streams.input())
        draft.recipients = recipients
        try streams.write(try MessageStreams.message { () throws(KeychainError) in try draft.encoded() })
    }

    /// Returns the certificate with a name. Of several, the one with the latest start of validity, but certificates for
    /// encryption come before the others.
    private static func recipient(_ name: String, _ known: [Certificate]) throws(CommandFailure) -> Certificate {
        let matching = known.filter(CertificateNickname(name).matches)
        let usable = matching.filter { certificate in
            guard let usage = certificate.extensions.keyUsage else { return true }
            return usage.contains(.keyEncipherment) || usage.contains(.keyAgreement)
        }
        guard let recipient = (usable.isEmpty ? matching : usable).newest else {
            throw .status(
                KeychainError(
                    .itemNotFound, "there is no certificate of the recipient '\(name)'",
                    hint: "security add-certificates FILE"))
        }
        return recipient
    }
}
