// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import CryptographicMessages
public import Foundation
internal import KeyServices
internal import KeychainModel
internal import LinuxSystem

/// Writes one message of the Cryptographic Message Syntax (RFC 5652): signed, encrypted, or both.
///
/// Encoders are created by ``CMSEncoderCreate(_:)``, not with an initializer. An encoder is used for
/// one message.
///
/// ```swift
/// var encoded: CFData?
/// let status = CMSEncodeContent(
///     identity, nil, nil, false, .attrSigningTime, bytes, bytes.count, &encoded)
/// ```
public final class CMSEncoder: NSObject, Sendable {
    /// An ``EncoderBox``, in a form that hides its type from clients.
    private let content: any AnyObject & Sendable

    init(empty: Void) {
        content = EncoderBox()
        super.init()
    }

    var state: EncoderState { box.state.withLock { $0 } }

    /// Changes the input of the message.
    ///
    /// - Throws: errSecParam if the message was already written; the errors of `change`.
    func change(_ change: (inout EncoderState) throws(KeychainError) -> Void) throws(KeychainError) {
        try box.state.withLock { (state) throws(KeychainError) in
            guard !state.isEncoded else { throw .parameter("the message has already been encoded") }
            try change(&state)
        }
    }

    /// Returns the message; from now on the encoder does not change.
    func encode() throws(KeychainError) -> [UInt8] {
        try change { $0.isEncoded = true }
        return try state.encoded()
    }

    private var box: EncoderBox { unsafeDowncast(content, to: EncoderBox.self) }
}

/// Holds an ``EncoderState``, because the public type cannot name it.
private final class EncoderBox: Sendable {
    let state = SystemMutex(EncoderState())
}

/// The input of a message.
struct EncoderState: Sendable {
    var signers: [SecIdentity] = []
    var recipients: [SecCertificate] = []
    var supporting: [SecCertificate] = []
    var hash = HashAlgorithm.sha256
    var attributes: CMSSignedAttributes = []
    var chainMode = CMSCertificateChainMode.chain
    var isDetached = false
    var contentType = ObjectIdentifier.cmsData
    var content: [UInt8] = []
    var isEncoded = false

    func encoded() throws(KeychainError) -> [UInt8] {
        guard recipients.isEmpty else { return try encrypted() }
        guard !signers.isEmpty || !supporting.isEmpty else {
            throw .parameter("a message needs a signer, a recipient or a certificate")
        }
        return try signed().encoded()
    }

    private func encrypted() throws(KeychainError) -> [UInt8] {
        guard !isDetached else { throw .parameter("the content of an encrypted message cannot be detached") }
        var draft = EnvelopedMessageDraft(content: content)
        draft.contentType = contentType
        if !signers.isEmpty {
            draft.content = try signed().encodedContent()
            draft.contentType = .cmsSignedData
        }
        draft.recipients = recipients.map(\.body)
        return try draft.encoded()
    }

    private func signed() throws(KeychainError) -> SignedMessageDraft {
        let understood: CMSSignedAttributes = [.attrSigningTime, .attrSmimeCapabilities]
        guard attributes.isSubset(of: understood) else {
            throw KeychainError(.unimplemented, "these signed attributes are not supported")
        }
        var draft = SignedMessageDraft(content: content)
        draft.contentType = contentType
        draft.isDetached = isDetached
        draft.announcesCapabilities = attributes.contains(.attrSmimeCapabilities)
        if attributes.contains(.attrSigningTime) { draft.signingTime = CertificateTime(Date()) }
        draft.certificates = supporting.map(\.body)
        for identity in signers {
            draft.signers.append(
                try SigningIdentity(
                    identity.certificate.body, identity.privateKey.body.requirePrivate(), hash: hash))
            draft.certificates += try certificates(of: identity)
        }
        return draft
    }

    /// The certificates that are sent for a signer.
    private func certificates(of identity: SecIdentity) throws(KeychainError) -> [Certificate] {
        let leaf = identity.certificate
        switch chainMode {
        case .none: return []
        case .signerOnly: return [leaf.body]
        case .chain, .chainWithRoot, .chainWithRootOrFail: break
        }
        let trust = SecTrust([leaf] + supporting, [SecPolicyCreateBasicX509()])
        trust.change { $0.mayFetch = false }
        let chain = trust.verdict.chain
        // An untrusted chain may end anywhere; a root is its own issuer.
        let hasRoot = chain.last?.isSelfIssued ?? false
        if chainMode == .chainWithRootOrFail, !hasRoot { throw KeychainError(.createChainFailed) }
        let withRoot = chain.isEmpty ? [leaf.body] : chain
        return chainMode == .chain && hasRoot && withRoot.count > 1 ? withRoot.dropLast() : withRoot
    }
}

extension CertificateTime {
    /// The whole second.
    init(_ date: Date) {
        self.init(secondsSince1970: Int64(exactly: date.timeIntervalSince1970.rounded(.down)) ?? 0)
    }
}

extension CMSEncoder: CoreFoundationType {
    static var typeID: CFTypeID { TypeIdentifier.messageEncoder.rawValue }
}

/// Returns the type identifier of `CMSEncoder`, for comparison with `CFGetTypeID`.
@discardableResult
public func CMSEncoderGetTypeID() -> CFTypeID {
    CMSEncoder.typeID
}
