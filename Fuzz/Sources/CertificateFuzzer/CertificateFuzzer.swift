// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import KeyServices
internal import SecretMemory

/// Fuzzes everything that reads certificates from outside. The first byte selects the reader, the
/// rest is its input. A name must have one normalized form; exceptions and PKCS #7 must be equal
/// after a round trip; a trusted chain must end in an anchor.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzCertificates(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let bytes = UnsafeRawBufferPointer(start: start, count: count)
    guard let choice = bytes.first else { return 0 }
    let rest = Array(bytes.dropFirst())
    switch choice % 11 {
    case 0: certificate(rest)
    case 1: bundle(rest)
    case 2: archive(rest)
    case 3: server(rest)
    case 4: exceptions(rest)
    case 5: if let name = DistinguishedName(der: rest) { check(name) }
    case 6:
        revocation(rest) { information, bytes in information.lists = (try? CertificateRevocationList.all(bytes)) ?? [] }
    case 7:
        revocation(rest) { information, bytes in
            information.responses = (try? OCSPResponse(der: bytes)).map { [$0] } ?? []
        }
    case 8: settings(rest)
    case 9: timestamps(rest)
    default: logs(rest)
    }
    return 0
}

private let validationTime = 1_780_000_000.0

private func certificate(_ bytes: [UInt8]) {
    guard let certificate = try? Certificate(der: bytes) else { return }
    guard certificate.der == bytes else {
        fatalError("a certificate has other bytes than it was read from, because it has two encodings")
    }
    check(certificate.subject)
    check(certificate.issuer)
    _ = (certificate.subjectSummary, certificate.emailAddresses, certificate.publicKey.description, certificate.defects)
    _ = CertificateAttributes.standard(certificate)
    _ = try? SignedCertificateTimestamp.embedded(in: certificate)
    verify([certificate], anchors: [])
    verify([certificate], anchors: [certificate])
}

private func bundle(_ bytes: [UInt8]) {
    let certificates = CertificateBundle(bytes).certificates
    guard let last = certificates.last else { return }
    guard CertificateBundle(CertificateBundle.pkcs7(certificates)).certificates == certificates else {
        fatalError("certificates change in a round trip by PKCS #7, because encoding and decoding differ")
    }
    verify(certificates, anchors: [])
    verify(certificates, anchors: [last])
}

private func verify(_ certificates: [Certificate], anchors: [Certificate]) {
    for policy in [
        TrustPolicy.basicX509, .server(ServerName(requested: "example.com")), .mail(address: "a@example.com"),
        .codeSigning,
    ] {
        var evaluation = TrustEvaluation(certificates, policies: [policy], at: validationTime)
        evaluation.anchors = anchors
        evaluation.isAnchorsOnly = true
        let verdict = evaluation.verdict()
        if verdict.result.isTrusted, verdict.chain.last.map(anchors.contains) != true {
            fatalError("a chain without an anchor is trusted, because the search is wrong")
        }
        if let exceptions = verdict.exceptions, TrustExceptions(exceptions.bytes) != exceptions {
            fatalError("exceptions change in a round trip, because encoding and decoding differ")
        }
        _ = verdict.failures.map(verdict.explanation)
    }
}

/// Reads an issuer and a certificate, each after its length in two bytes, then revocation evidence.
private func revocation(_ bytes: [UInt8], _ take: (inout RevocationInformation, [UInt8]) -> Void) {
    guard let (issuer, afterIssuer) = certificate(before: bytes[...]),
        let (leaf, said) = certificate(before: afterIssuer)
    else { return }
    for options in [[.ocsp, .lists], [.ocsp, .lists, .requiresPositiveResponse]] as [RevocationOptions] {
        var evaluation = TrustEvaluation([leaf], policies: [.basicX509, .revocation(options)], at: validationTime)
        evaluation.anchors = [issuer]
        evaluation.isAnchorsOnly = true
        take(&evaluation.revocation, Array(said))
        let verdict = evaluation.verdict()
        if options.contains(.requiresPositiveResponse), leaf != issuer, verdict.result.isTrusted,
            verdict.revocationKnownUntil == nil
        {
            fatalError("a certificate of unknown revocation status is trusted, because RevocationRule is wrong")
        }
    }
}

private func certificate(before bytes: ArraySlice<UInt8>) -> (Certificate, rest: ArraySlice<UInt8>)? {
    guard bytes.count > 2 else { return nil }
    let length = bytes.prefix(2).reduce(0) { $0 << 8 | Int($1) }
    let rest = bytes.dropFirst(2)
    return (try? Certificate(der: Array(rest.prefix(length)))).map { ($0, rest.dropFirst(length)) }
}

private func settings(_ bytes: [UInt8]) {
    guard let settings = try? TrustSettings(propertyList: bytes) else { return }
    guard let written = try? settings.propertyList(), let again = try? TrustSettings(propertyList: written) else {
        fatalError("trust settings change in a round trip, because encoding and decoding differ")
    }
    guard (try? again.propertyList()) == written else {
        fatalError("trust settings have two encodings, because their order is not fixed")
    }
}

private func timestamps(_ bytes: [UInt8]) {
    guard let timestamps = try? SignedCertificateTimestamp.list(bytes) else { return }
    // Each has a head of 47 bytes.
    if timestamps.count > SignedCertificateTimestamp.maxCount || timestamps.count * 47 > bytes.count {
        fatalError("there are more timestamps than bytes for them, because the reader is wrong")
    }
}

/// Reads a list of logs; nothing was logged, so that a policy with them must refuse a certificate.
private func logs(_ bytes: [UInt8]) {
    guard let logs = try? CertificateLogList(json: bytes) else { return }
    let policy = CertificateTransparencyPolicy(logs: logs)
    if policy.result(of: [], at: validationTime).isSatisfied {
        fatalError("an empty chain satisfies a policy, because the count is wrong")
    }
}

private func check(_ name: DistinguishedName) {
    let normalized = name.normalized
    guard let again = DistinguishedName(der: normalized), again.normalized == normalized, again.matches(name) else {
        fatalError("a name has two normalized forms, because normalizing again changes it")
    }
    _ = name.description
}

private func archive(_ bytes: [UInt8]) {
    bytes.withUnsafeBytes { bytes in
        _ = PKCS12File.isOne(bytes)
        _ = try? PKCS12File(reading: bytes, passphrase: SharedSecret(copying: "pw".utf8))
    }
}

private func server(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    guard let name = try? ServerName(text) else { return }
    guard (try? ServerName(name.description)) == name else {
        fatalError("a server name changes in a round trip, because description and parsing differ")
    }
}

private func exceptions(_ bytes: [UInt8]) {
    guard let exceptions = TrustExceptions(bytes) else { return }
    guard TrustExceptions(exceptions.bytes) == exceptions else {
        fatalError("exceptions change in a round trip, because encoding and decoding differ")
    }
}
