// SPDX-License-Identifier: Apache-2.0

public import CertificateTrust
internal import KeyServices
internal import KeychainModel
internal import OpenSSLCrypto

extension SignedMessage {
    /// Verifies every signature; returns one verdict for each of ``signers``.
    ///
    /// - Parameters:
    ///   - detachedContent: the content, if it is not in the message. If it is, the two must be
    ///     equal.
    ///   - certificates: more certificates of signers, such as the keychain's. They are used for a signer without its
    ///     certificate in the message.
    public func verdicts(
        detachedContent: [UInt8]? = nil, certificates more: [Certificate] = []
    ) -> [SignerVerdict] {
        if let content, let detachedContent, !content.elementsEqual(detachedContent) {
            return signers.map { _ in .invalid(reason: "the content in the message is not the one that was given") }
        }
        var digests = ContentDigests(content ?? detachedContent.map { $0[...] })
        return signers.map { signer in
            do throws(SignerDefect) {
                return try verdict(of: signer, &digests, more)
            } catch {
                return .invalid(reason: error.description)
            }
        }
    }

    /// The certificate that a signer names: of the message, else of `more`.
    ///
    /// - Returns: nil if there is none, or several different ones.
    public func certificate(of signer: MessageSigner, _ more: [Certificate] = []) -> Certificate? {
        let named = candidates(signer, more)
        return named.count == 1 ? named.first : nil
    }

    private func candidates(_ signer: MessageSigner, _ more: [Certificate]) -> Set<Certificate> {
        let included = Set(certificates.filter(signer.identifier.matches))
        return included.isEmpty ? Set(more.filter(signer.identifier.matches)) : included
    }

    private func verdict(
        of signer: MessageSigner, _ digests: inout ContentDigests, _ more: [Certificate]
    ) throws(SignerDefect) -> SignerVerdict {
        let method = try SignatureMethod(signer.signatureAlgorithm, digest: signer.digestAlgorithm)
        guard let digest = try digests.digest(method.hash) else { return .needsContent }
        let named = candidates(signer, more)
        guard let certificate = named.first, named.count == 1 else {
            return .noCertificate(
                reason: "\(named.isEmpty ? "no certificate has" : "several certificates have") the \(signer.identifier)"
            )
        }
        guard let key = PublicKey.inCertificate(certificate) else {
            throw SignerDefect("a key \(certificate.publicKey) cannot verify signatures")
        }
        let signed = try signedDigest(signer, digest, method.hash, digests.content)
        guard method.isSignature(signer.signature, of: signed, by: key) else {
            throw SignerDefect("the signature does not match")
        }
        if method.hash.isWeak { return .weak(certificate, reason: "\(method.hash.displayName) is not secure") }
        return key.kind.isWeak ? .weak(certificate, reason: "a key \(key.kind) is too short") : .valid(certificate)
    }

    /// Returns the signed digest: of the attributes, with the content's digest in them, or of the content itself if
    /// there are no attributes.
    private func signedDigest(
        _ signer: MessageSigner, _ digest: [UInt8], _ hash: HashAlgorithm, _ content: ArraySlice<UInt8>?
    ) throws(SignerDefect) -> [UInt8] {
        if let attributes = signer.attributes {
            guard try attributes.messageDigest(contentType: contentType).elementsEqual(digest) else {
                throw SignerDefect("the content has another digest than the one that was signed")
            }
            return try hash.messageDigest(of: attributes.der[...])
        }
        guard contentType == .cmsData else {
            throw SignerDefect("a content of the type \(contentType) requires signed attributes")
        }
        // A signature of attributes is also one of a content with the same bytes: without this, the
        // attributes of one message could be presented as the content of another.
        guard !Self.isSignedAttributes(content ?? []) else {
            throw SignerDefect("the content is the signed attributes of another message")
        }
        return digest
    }

    private static func isSignedAttributes(_ content: ArraySlice<UInt8>) -> Bool {
        // No attributes are that long: a digest, names of types and a time.
        guard content.count <= 1 << 20, let set = try? MessageReader.only(of: content, "content"),
            set.tag == DERTag.set.rawValue, let attributes = try? SignedAttributes(set.content, .standard)
        else { return false }
        return attributes.areOfSigner
    }
}

/// The digests of a content, each computed once: several signers may use the same.
private struct ContentDigests {
    let content: ArraySlice<UInt8>?
    private var known: [HashAlgorithm: [UInt8]] = [:]

    init(_ content: ArraySlice<UInt8>?) { self.content = content }

    /// Returns the digest; nil if there is no content.
    mutating func digest(_ hash: HashAlgorithm) throws(SignerDefect) -> [UInt8]? {
        guard let content else { return nil }
        if let digest = known[hash] { return digest }
        let digest = try hash.messageDigest(of: content)
        known[hash] = digest
        return digest
    }
}

extension HashAlgorithm {
    fileprivate func messageDigest(of bytes: ArraySlice<UInt8>) throws(SignerDefect) -> [UInt8] {
        guard let digest = bytes.withUnsafeBytes({ try? function.digest(of: $0) }) else {
            throw SignerDefect("\(displayName) is not available")
        }
        return digest
    }
}
