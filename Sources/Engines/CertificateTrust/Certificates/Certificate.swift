// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem
internal import SwiftASN1

/// An X.509 certificate (RFC 5280, section 4.1), parsed but not validated.
///
/// Every well-formed certificate is read, whether its algorithms and extensions are supported or
/// not. A violation that does not prevent reading is recorded in ``defects``.
public final class Certificate: Sendable {
    /// The DER that the certificate was read from.
    public let der: [UInt8]
    /// 1, 2 or 3.
    public let version: Int
    /// Big-endian, two's complement, exactly as encoded.
    public let serialNumber: ArraySlice<UInt8>
    public let issuer: DistinguishedName
    public let validity: Validity
    public let subject: DistinguishedName
    public let publicKey: SubjectPublicKeyInfo
    public let extensions: CertificateExtensions
    public let signatureAlgorithm: AlgorithmIdentifier
    /// The signed bytes: the DER of `TBSCertificate`.
    let signedBytes: ArraySlice<UInt8>
    public let signature: ArraySlice<UInt8>
    private let ownDefects: [String]
    private let ownHash: Int
    /// The key of ``verificationKey()``, after its first use.
    let verification = SystemMutex<Result<VerificationKey, CertificateError>?>(nil)
    private let names = SystemMutex<(subject: NormalizedName, issuer: NormalizedName)?>(nil)

    /// - Parameter der: one DER `SEQUENCE` without trailing bytes.
    public init(der: [UInt8]) throws(CertificateError) {
        let parts: Parts
        do {
            parts = try Parts(try DER.parse(der))
        } catch let error as CertificateError {
            throw error
        } catch {
            throw CertificateError("not a certificate: \(error)")
        }
        self.der = der
        // The hash covers all bytes: an attacker could make many certificates that share a part, and a hash of that
        // part would be the same for all of them. All bytes are hashed in one call, for speed.
        var hasher = Hasher()
        der.withUnsafeBytes { hasher.combine(bytes: $0) }
        ownHash = hasher.finalize()
        version = parts.body.version
        serialNumber = parts.body.serialNumber
        issuer = parts.body.issuer
        validity = parts.body.validity
        subject = parts.body.subject
        publicKey = parts.body.publicKey
        extensions = parts.body.extensions
        signatureAlgorithm = parts.signatureAlgorithm
        signedBytes = parts.signedBytes
        signature = parts.signature
        var defects = parts.body.defects
        if parts.body.signatureAlgorithm != parts.signatureAlgorithm {
            defects.append(
                "signatureAlgorithm is \(parts.signatureAlgorithm.algorithm), but TBSCertificate names another")
        }
        ownDefects = defects
    }

    /// Violations of RFC 5280's syntax, one sentence each. A certificate with a defect is not used
    /// in a chain.
    public var defects: [String] { ownDefects + extensions.defects }

    /// The public key in the form that verifies signatures; made once.
    func verificationKey() throws(CertificateError) -> VerificationKey {
        try verification.withLock { (made) throws(CertificateError) in
            if let made { return try made.get() }
            let result = Result { () throws(CertificateError) in try VerificationKey(publicKey) }
            made = result
            return try result.get()
        }
    }

    /// The subject, normalized once.
    var normalizedSubject: NormalizedName { normalizedNames.subject }

    /// The issuer, normalized once.
    var normalizedIssuer: NormalizedName { normalizedNames.issuer }

    private var normalizedNames: (subject: NormalizedName, issuer: NormalizedName) {
        names.withLock { names in
            if let names { return names }
            let subjectName = NormalizedName(subject)
            let made = (subject: subjectName, issuer: issuer.der == subject.der ? subjectName : NormalizedName(issuer))
            names = made
            return made
        }
    }

    /// Whether subject and issuer are the same name. This does not mean that the certificate is
    /// self-signed.
    public var isSelfIssued: Bool { normalizedSubject == normalizedIssuer }
}

// MARK: Hashable

extension Certificate: Hashable {
    public static func == (left: Certificate, right: Certificate) -> Bool { left === right || left.der == right.der }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(ownHash)
    }
}

// MARK: Reading

extension Certificate {
    private struct Parts {
        let body: Body
        let signedBytes: ArraySlice<UInt8>
        let signatureAlgorithm: AlgorithmIdentifier
        public let signature: ArraySlice<UInt8>

        init(_ node: ASN1Node) throws {
            let members = try node.members()
            guard members.count == 3 else {
                throw CertificateError("a certificate must have 3 fields, found \(members.count)")
            }
            body = try Body(members[0])
            signedBytes = members[0].encodedBytes
            signatureAlgorithm = try AlgorithmIdentifier(members[1])
            let bits = try ASN1BitString(derEncoded: members[2], withIdentifier: .bitString)
            guard bits.paddingBits == 0 else { throw CertificateError("the signature is not a whole number of bytes") }
            signature = bits.bytes
        }
    }

    /// `TBSCertificate`.
    private struct Body {
        var version = 1
        var serialNumber: ArraySlice<UInt8>
        var signatureAlgorithm: AlgorithmIdentifier
        var issuer: DistinguishedName
        var validity: Validity
        var subject: DistinguishedName
        var publicKey: SubjectPublicKeyInfo
        var extensions = CertificateExtensions()
        var defects: [String] = []

        init(_ node: ASN1Node) throws {
            var members = try node.members()[...]
            if let first = members.first, first.isContextSpecific(0) {
                version = 1 + (try first.explicit(0).number(upTo: 2))
                if version == 1 { defects.append("version 1 is encoded explicitly, although DER forbids it") }
                members.removeFirst()
            }
            guard members.count >= 6 else { throw CertificateError("a field of TBSCertificate is missing") }
            let start = members.startIndex
            serialNumber = try members[start].integerContent()
            signatureAlgorithm = try AlgorithmIdentifier(members[start + 1])
            issuer = try DistinguishedName(members[start + 2])
            validity = try Validity(members[start + 3])
            subject = try DistinguishedName(members[start + 4])
            publicKey = try SubjectPublicKeyInfo(members[start + 5])
            var last: UInt = 0
            for member in members.dropFirst(6) {
                let tag = member.identifier.tagNumber
                guard member.identifier.tagClass == .contextSpecific, 1...3 ~= tag, tag > last else {
                    throw CertificateError("unexpected field in TBSCertificate")
                }
                last = tag
                if version < (tag == 3 ? 3 : 2) {
                    defects.append("a certificate of version \(version) has a field of a later version")
                }
                if tag == 3 { extensions = try CertificateExtensions(try member.explicit(3)) }
            }
        }
    }
}
