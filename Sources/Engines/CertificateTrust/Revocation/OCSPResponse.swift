// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import SwiftASN1

/// An OCSP response (RFC 6960), signed by the issuer or by a responder that the issuer authorized.
public final class OCSPResponse: Sendable {
    /// The responder ID: the responder's name or key.
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

    /// The status of one certificate (`SingleResponse`).
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

    /// The maximum size of a response, in bytes.
    static let maxLength = 1 << 16

    /// - Parameter der: one DER `SEQUENCE` without trailing bytes.
    /// - Throws: also if the response status is not successful.
    public convenience init(der: [UInt8]) throws(CertificateError) {
        guard der.count <= Self.maxLength else {
            throw CertificateError("an OCSP response has more than \(Self.maxLength) bytes")
        }
        do {
            try self.init(DER.parse(der))
        } catch let error as CertificateError {
            throw error
        } catch {
            throw CertificateError("not an OCSP response: \(error)")
        }
    }

    private init(_ node: ASN1Node) throws {
        let outer = try node.members()
        guard let status = outer.first?.primitiveContent, outer[0].identifier == .enumerated else {
            throw CertificateError("an OCSP response has no status")
        }
        guard status.elementsEqual([0]), outer.count == 2 else {
            throw CertificateError("the OCSP response status is not successful")
        }
        let typed = try outer[1].explicit(0).members()
        guard typed.count == 2, try ObjectIdentifier(typed[0]) == .ocspBasic else {
            throw CertificateError("unknown type of OCSP response")
        }
        let basic = try DER.parse(try ASN1OctetString(derEncoded: typed[1]).bytes).members()
        guard basic.count == 3 || basic.count == 4 else {
            throw CertificateError("a BasicOCSPResponse must have 3 or 4 fields")
        }
        object = try SignedObject(of: basic[0].encodedBytes, basic[1], basic[2])
        certificates =
            basic.count == 4
            ? try basic[3].explicit(0).members().compactMap { try? Certificate(der: Array($0.encodedBytes)) } : []
        var parts = try basic[0].members()[...]
        if parts.first?.isContextSpecific(0) == true { _ = try parts.removeFirst().explicit(0).number(upTo: 0) }
        guard parts.count >= 3 else { throw CertificateError("a field of an OCSP response is missing") }
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
        guard parts.count >= 3 else { throw CertificateError("a field of a SingleResponse is missing") }
        let identifier = try parts.removeFirst().members()
        guard identifier.count == 4 else { throw CertificateError("a CertID must have 4 fields") }
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
            throw CertificateError("a SingleResponse has an unknown status")
        }
        return .revoked(at: try CertificateTime(time))
    }

    private static func critical(_ node: ASN1Node) throws -> [ObjectIdentifier] {
        try node.members().map(CertificateExtension.init).filter(\.isCritical).map(\.identifier)
    }

    // MARK: Verification

    /// The certificate that signed: the issuer's, or that of an authorized responder (RFC 6960,
    /// section 4.2.2.2); nil if there is none.
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
            return "the response is for another certificate"
        }
        if let first = unknown.first { return "the extension \(first) of the response is critical, but not supported" }
        guard answer.thisUpdate.isNotInFuture(at: validationTime) else {
            return "the response is not valid before \(answer.thisUpdate)"
        }
        guard validationTime > answer.end else { return nil }
        let limit = answer.nextUpdate.map { "nextUpdate \($0)" } ?? "thisUpdate \(answer.thisUpdate)"
        return "response expired (\(limit))"
    }

    private func answer(about certificate: Certificate, of issuer: Certificate) -> Single? {
        responses.first { $0.covers(certificate, of: issuer) }
    }

    func signedStatus(of certificate: Certificate, issuer: Certificate, at validationTime: Double) -> RevocationStatus {
        guard let answer = answer(about: certificate, of: issuer) else {
            return .unknown("the response is for another certificate")
        }
        guard let signer = signer(for: issuer, at: validationTime) else {
            return .unknown("not signed by an authorized responder")
        }
        guard object.isSigned(by: signer) else { return .unknown("the signature of the response is not valid") }
        return switch answer.status {
        case .good: .good(until: answer.end)
        case .revoked(let time): .revoked(at: time)
        case .unknown: .unknown("the responder does not know the certificate")
        }
    }
}

extension OCSPResponse.Single {
    /// The end of validity, in seconds since 1970: nextUpdate, or one day after thisUpdate if
    /// nextUpdate is absent.
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
    /// Whether the other certificate's key signed this certificate.
    fileprivate func isSigned(by other: Certificate) -> Bool {
        (try? other.verificationKey().isSignature(signature, of: signedBytes, signatureAlgorithm)) ?? false
    }
}
