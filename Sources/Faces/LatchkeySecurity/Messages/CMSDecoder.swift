// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import CryptographicMessages
public import Foundation
internal import KeyServices
internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyOperations
internal import LatchkeyService
internal import LinuxSystem

/// Reads one message of the Cryptographic Message Syntax (RFC 5652): signed, encrypted, or both.
///
/// Decoders are created by
/// ``CMSDecoderCreate(_:)``, not with an initializer. A message is passed to ``CMSDecoderUpdateMessage(_:_:_:)``.
/// ``CMSDecoderFinalizeMessage(_:)`` ends it, and decrypts with the private keys of the keychain. It does not verify signatures: ``CMSDecoderCopySignerStatus(_:_:_:_:_:_:_:)``
/// does.
public final class CMSDecoder: NSObject, Sendable {
    /// A ``DecoderBox``, in a form that hides its type from clients.
    private let content: any AnyObject & Sendable

    init(empty: Void) {
        content = DecoderBox()
        super.init()
    }

    var state: DecoderState { box.state.withLock { $0 } }

    /// Changes the input.
    func change(_ change: (inout DecoderState) throws(KeychainError) -> Void) throws(KeychainError) {
        try box.state.withLock { (state) throws(KeychainError) in try change(&state) }
    }

    /// The message that was read.
    ///
    /// - Throws: errSecParam if the message is not complete yet.
    func message() throws(KeychainError) -> DecodedMessage {
        guard let message = state.message else {
            throw .parameter("the message has not been ended by CMSDecoderFinalizeMessage")
        }
        return message
    }

    /// Returns the verdicts on the signatures, found once for each detached content.
    func verdicts() throws(KeychainError) -> [SignerVerdict] {
        let known = state
        if let verdicts = known.verdicts { return verdicts }
        guard let signed = try message().signed else { return [] }
        let verdicts = signed.verdicts(
            detachedContent: known.detachedContent, certificates: Self.certificates(for: signed))
        try change { if $0.detachedContent == known.detachedContent { $0.verdicts = verdicts } }
        return verdicts
    }

    /// The certificates of the keychain, if a signer's is not in the message.
    static func certificates(for message: SignedMessage) -> [Certificate] {
        let isComplete = message.signers.allSatisfy { message.certificate(of: $0) != nil }
        return isComplete ? [] : KeychainCertificates.allStored()
    }

    private var box: DecoderBox { unsafeDowncast(content, to: DecoderBox.self) }
}

/// Holds a ``DecoderState``, because the public type cannot name it.
private final class DecoderBox: Sendable {
    let state = SystemMutex(DecoderState())
}

/// The input and the results of a decoder.
struct DecoderState: Sendable {
    var bytes: [UInt8] = []
    var detachedContent: [UInt8]? { didSet { verdicts = nil } }
    var message: DecodedMessage?
    var verdicts: [SignerVerdict]?
}

/// A message after decryption.
struct DecodedMessage: Sendable {
    /// Whether the content was encrypted.
    let isEncrypted: Bool
    /// Nil if the message is not signed.
    let signed: SignedMessage?
    let contentType: ObjectIdentifier
    /// Nil if the content is detached.
    let content: Data?

    /// Decodes a message, and decrypts it with a key of the keychain.
    ///
    /// - Throws: errSecItemNotFound if no private key of the keychain is a recipient's.
    init(_ bytes: [UInt8]) throws(KeychainError) {
        var message = try CryptographicMessage(bytes)
        var outerType = ObjectIdentifier.cmsData
        isEncrypted = if case .enveloped = message { true } else { false }
        if case .enveloped(let enveloped) = message {
            let content = try Self.content(of: enveloped)
            outerType = enveloped.contentType
            message =
                outerType == .cmsSignedData
                ? try CryptographicMessage(type: outerType, content: content) : .data(content[...])
        }
        switch message {
        case .signed(let found):
            (signed, contentType, content) = (found, found.contentType, found.content.map { Data($0) })
        case .data(let bytes): (signed, contentType, content) = (nil, outerType, Data(bytes))
        case .enveloped: throw KeychainError(.unimplemented, "an encrypted message inside of another is not supported")
        }
    }

    private static func content(of message: EnvelopedMessage) throws(KeychainError) -> [UInt8] {
        let query = ItemQuery(.identity, synchronizable: .any, limit: .all)
        let identities = try KeychainClient.session().copyIdentities(query, returning: [.attributes, .reference])
        for identity in identities {
            guard let certificate = KeychainCertificates.certificate(of: identity.certificate),
                let recipient = message.recipient(certificate)
            else { continue }
            let key = try KeyBody.stored(identity, .asking)
            return try message.content(for: recipient, by: key.requirePrivate())
        }
        throw KeychainError(.itemNotFound, "no private key of the keychain belongs to a recipient of the message")
    }
}

extension CMSDecoder: CoreFoundationType {
    static var typeID: CFTypeID { TypeIdentifier.messageDecoder.rawValue }
}

/// Returns the type identifier of `CMSDecoder`, for comparison with `CFGetTypeID`.
@discardableResult
public func CMSDecoderGetTypeID() -> CFTypeID {
    CMSDecoder.typeID
}
