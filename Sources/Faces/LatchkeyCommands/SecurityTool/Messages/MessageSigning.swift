// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import CryptographicMessages
internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyService
internal import LinuxSystem

/// `security cms -S`.
struct MessageSigning {
    private let arguments: ParsedArguments
    private let session: CommandSession
    private let streams: MessageStreams

    init(_ arguments: ParsedArguments, _ session: CommandSession) {
        self.arguments = arguments
        self.session = session
        streams = MessageStreams(arguments, session)
    }

    func run() throws(CommandFailure) {
        let hash = try hash()
        let keychains = try streams.keychains()
        let person = try PersonPrompt(arguments)
        let (certificate, record, keychain) = try identity(in: keychains, for: person)
        let key = try KeySearch.privateKey(record, in: keychain.session, for: person)
        let known = try keychains.all(in: session) { (keychain) throws(CommandFailure) in
            try CertificateItems.all(in: keychain).map(\.certificate)
        }.map(\.value)
        var draft = SignedMessageDraft(content: try streams.input())
        draft.isDetached = arguments.contains("-T")
        draft.announcesCapabilities = arguments.contains("-P")
        let now = try ValidationTime.validationTime(nil)
        if arguments.contains("-G") {
            draft.signingTime = CertificateTime(secondsSince1970: Int64(exactly: now.rounded(.down)) ?? 0)
        }
        draft.certificates = Self.chain(of: certificate, known, at: now)
        let message = try MessageStreams.message { () throws(KeychainError) in
            draft.signers = [try SigningIdentity(certificate, key, hash: hash)]
            return try draft.encoded()
        }
        try streams.write(message)
    }

    private func hash() throws(CommandFailure) -> HashAlgorithm {
        switch arguments["-H"]?.text.uppercased() {
        case nil, "SHA256": return .sha256
        case "SHA384": return .sha384
        case "SHA512": return .sha512
        case "SHA1", "MD5", "MD4", "MD2":
            throw .line("security: cms: -H must be SHA256, SHA384 or SHA512: older hashes are not secure")
        default: throw .usage("-H must be SHA256, SHA384 or SHA512")
        }
    }

    /// Returns the identity that `-N` or `-Z` names. Of several, the one with the latest start of validity.
    private func identity(
        in keychains: [CommandKeychain], for person: PersonPrompt
    ) throws(CommandFailure) -> (Certificate, ItemRecord, CommandKeychain) {
        let (name, hash) = (arguments["-N"]?.text, arguments["-Z"]?.text)
        guard name != nil || hash != nil else { throw .usage("-N or -Z is required with -S") }
        let identities = try keychains.all(in: session) { (keychain) throws(CommandFailure) in
            try CertificateItems.identities(group: arguments.accessGroup, in: keychain, for: person)
        }
        let matching = identities.filter { identity in
            let certificate = identity.value.found.certificate
            return name.map { CertificateNickname($0).matches(certificate) } ?? true
                && hash.map { CertificateHash($0).matches(certificate) } ?? true
        }
        guard let newest = matching.map(\.value.found.certificate).newest,
            let found = matching.first(where: { $0.value.found.certificate == newest })
        else {
            guard !keychains.contains(where: \.isLocked) else {
                throw .status(KeychainError(.interactionNotAllowed, "no keychain that is open has this identity"))
            }
            throw .status(
                KeychainError(
                    .itemNotFound, "there is no identity '\(name ?? hash ?? "")'", hint: "security find-identity"))
        }
        return (newest, found.value.key, found.keychain)
    }

    /// The certificate and those above it, without the root.
    private static func chain(
        of certificate: Certificate, _ known: [Certificate], at time: Double
    ) -> [Certificate] {
        var evaluation = TrustEvaluation([certificate] + known, policies: [.basicX509], at: time)
        evaluation.take(TrustSettingsDomain.all)
        let chain = evaluation.verdict().chain
        guard chain.count > 1 else { return [certificate] }
        return chain.last?.isSelfIssued == true ? chain.dropLast() : chain
    }
}
