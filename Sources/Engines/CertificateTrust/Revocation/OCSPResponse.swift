// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import SwiftASN1

/// An answer about revocation (RFC 6960): of the issuer itself, or of somebody whom the issuer has named for it.
public final class OCSPResponse: Sendable {
    /// Who has signed.
    private enum Responder: Sendable {
        case name(DistinguishedName)
        /// SHA-1 of the public key.
        case key([UInt8])
    }

    fileprivate enum Status: Sendable {
        case good
        case revoked(at: CertificateTime)
        case unknown
    }

    /// What is said of one certificate.
    fileprivate struct Single: Sendable {
        var hash: ObjectIdentifier
        var issuerName: [UInt8]
        var issuerKey: [UInt8]
        var serialNumber: [UInt8]
        var status: Status
        var thisUpdate: CertificateTime
        var nextUpdate: CertificateTime?
    }

    private let responder: Responder
    private let responses: [Single]
    private let object: SignedObject
    private let certificates: [Certificate]
    private let unknown: [ObjectIdentifier]

    /// The most bytes of one.
    static let maxLength = 1 << 16

    /// - Parameter der: one DER `SEQUENCE`, and nothing behind it.
    /// - Throws: also where the responder answers that it does not answer.
    public convenience init(der: [UInt8]) throws(CertificateError) {
        guard der.count <= Self.maxLength else {
            throw CertificateError("an OCSP response has more than \(Self.maxLength) bytes")
        }
        do {
            try self.init(DER.parse(der))
        } catch let error as CertificateError {
            throw error
        } catch {
            throw CertificateError("the bytes are no OCSP response: \(error)")
        }
    }

    private init(_ node: ASN1Node) throws {
        let outer = try node.members()
        guard let status = outer.first?.primitiveContent, outer[0].identifier == .enumerated else {
            throw CertificateError("an OCSP response has no status")
        }
        guard status.elementsEqual([0]), outer.count == 2 else {
            throw CertificateError("the OCSP responder does not answer")
        }
        let typed = try outer[1].explicit(0).members()
        guard typed.count == 2, try ObjectIdentifier(typed[0]) == .ocspBasic else {
            throw CertificateError("the OCSP response is of an unknown kind")
        }
        let basic = try DER.parse(try ASN1OctetString(derEncoded: typed[1]).bytes).members()
        guard basic.count == 3 || basic.count == 4 else { throw CertificateError("an OCSP response lacks a part") }
        object = try SignedObject(of: basic[0].encodedBytes, basic[1], basic[2])
        certificates =
            basic.count == 4
            ? try basic[3].explicit(0).members().compactMap { try? Certificate(der: Array($0.encodedBytes)) } : []
        var parts = try basic[0].members()[...]
        if parts.first?.isContextSpecific(0) == true { _ = try parts.removeFirst().explicit(0).number(upTo: 0) }
        guard parts.count >= 3 else { throw CertificateError("an OCSP response lacks a part") }
        responder = try Self.responder(parts.removeFirst())
        _ = try CertificateTime(parts.removeFirst())
        var critical: [ObjectIdentifier] = []
        responses = try parts.removeFirst().members().map { try Self.single($0, &critical) }
        if let extensions = parts.popFirst() { critical += try Self.critical(extensions.explicit(1)) }
        unknown = critical
    }

    private static func responder(_ node: ASN1Node) throws -> Responder {
        if node.isContextSpecific(1) { return .name(try DistinguishedName(node.explicit(1))) }
        return .key(Array(try ASN1OctetString(derEncoded: node.explicit(2)).bytes))
    }

    private static func single(_ node: ASN1Node, _ critical: inout [ObjectIdentifier]) throws -> Single {
        var parts = try node.members()[...]
        guard parts.count >= 3 else { throw CertificateError("an answer lacks a part") }
        let identifier = try parts.removeFirst().members()
        guard identifier.count == 4 else { throw CertificateError("an answer does not say whom it is about") }
        let status = try status(parts.removeFirst())
        var single = Single(
            hash: try AlgorithmIdentifier(identifier[0]).algorithm,
            issuerName: Array(try ASN1OctetString(derEncoded: identifier[1]).bytes),
            issuerKey: Array(try ASN1OctetString(derEncoded: identifier[2]).bytes),
            serialNumber: Array(try identifier[3].integerContent()),
            status: status, thisUpdate: try CertificateTime(parts.removeFirst()))
        if let next = parts.first, next.isContextSpecific(0) {
            single.nextUpdate = try CertificateTime(parts.removeFirst().explicit(0))
        }
        if let extensions = parts.popFirst() { critical += try Self.critical(extensions.explicit(1)) }
        return single
    }

    private static func status(_ node: ASN1Node) throws -> Status {
        if node.isContextSpecific(0) { return .good }
        if node.isContextSpecific(2) { return .unknown }
        guard node.isContextSpecific(1), case .constructed(let nodes) = node.content,
            let time = nodes.first(where: { _ in true })
        else {
            throw CertificateError("an answer has an unknown status")
        }
        return .revoked(at: try CertificateTime(time))
    }

    private static func critical(_ node: ASN1Node) throws -> [ObjectIdentifier] {
        try node.members().map(CertificateExtension.init).filter(\.isCritical).map(\.identifier)
    }

    // MARK: Judging

    /// The issuer itself, or a certificate of its own for this use.
    private func signer(for issuer: Certificate, at validationTime: Double) -> Certificate? {
        if isResponder(issuer) { return issuer }
        let matching = certificates.filter { delegate in
            isResponder(delegate) && delegate.issuer.matches(issuer.subject) && delegate.defects.isEmpty
                && delegate.extensions.unknownCritical.isEmpty
                && delegate.extensions.extendedKeyUsages?.contains(.ocspSigning) == true
                && delegate.extensions.keyUsage?.contains(.digitalSignature) ?? true
                && delegate.validity.contains(validationTime)
        }
        return matching.prefix(2).first { $0.isSigned(by: issuer) }
    }

    private func isResponder(_ certificate: Certificate) -> Bool {
        switch responder {
        case .name(let name): name.matches(certificate.subject)
        case .key(let hash): certificate.publicKeyHash == hash
        }
    }
}

extension OCSPResponse: RevocationEvidence {
    func covers(_ certificate: Certificate, of issuer: Certificate) -> Bool {
        responses.contains { $0.covers(certificate, of: issuer) }
    }

    func rejectionReason(about certificate: Certificate, of issuer: Certificate, at validationTime: Double) -> String? {
        guard let answer = answer(about: certificate, of: issuer) else {
            return "the response is about another certificate"
        }
        if let first = unknown.first { return "the extension \(first) of the response is critical, and not understood" }
        guard answer.thisUpdate.isNotInFuture(at: validationTime) else {
            return "the response is of \(answer.thisUpdate)"
        }
        return validationTime <= answer.end ? nil : "a newer response than that of \(answer.thisUpdate) is to be had"
    }

    private func answer(about certificate: Certificate, of issuer: Certificate) -> Single? {
        responses.first { $0.covers(certificate, of: issuer) }
    }

    func signedStatus(of certificate: Certificate, issuer: Certificate, at validationTime: Double) -> RevocationStatus {
        guard let answer = answer(about: certificate, of: issuer) else {
            return .unknown("the response is about another certificate")
        }
        guard let signer = signer(for: issuer, at: validationTime) else {
            return .unknown("the response is signed by nobody who may")
        }
        guard object.isSigned(by: signer) else { return .unknown("the response is not signed by its responder") }
        return switch answer.status {
        case .good: .good(until: answer.end)
        case .revoked(let time): .revoked(at: time)
        case .unknown: .unknown("the responder does not know it")
        }
    }
}

extension OCSPResponse.Single {
    /// Until when it holds. A responder that promises no other answer until some time is taken at its word for a day.
    fileprivate var end: Double {
        nextUpdate.map { Double($0.secondsSince1970) } ?? Double(thisUpdate.secondsSince1970) + 86_400
    }

    fileprivate func covers(_ certificate: Certificate, of issuer: Certificate) -> Bool {
        guard serialNumber == Array(certificate.serialNumber) else { return false }
        let (name, key) = (issuer.subject.der, issuer.publicKey.key)
        return switch hash {
        case .sha1:
            issuerName == Array(Insecure.SHA1.hash(data: name)) && issuerKey == Array(Insecure.SHA1.hash(data: key))
        case .sha256: issuerName == Array(SHA256.hash(data: name)) && issuerKey == Array(SHA256.hash(data: key))
        default: false
        }
    }
}

extension Certificate {
    /// Whether the other's key has signed this certificate.
    fileprivate func isSigned(by other: Certificate) -> Bool {
        (try? other.verificationKey().isSignature(signature, of: signedBytes, signatureAlgorithm)) ?? false
    }
}
