// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import PinnedTrust
import Security
import X509

private let host = "sdk.example"

/// Converts a certificate to Security and back: by its bytes, and by the functions that swift-certificates declares
/// where it has Security.
func certificateCheck() throws -> String {
    let chain = try ServerChain(host: host, authorityName: "SDK CA")
    let der = try ServerChain.der(chain.server)
    let converted = try SecCertificate.makeWithCertificate(chain.server)
    try expect("X509: bytes", SecCertificateCopyData(converted) as Data, der)
    try expect("X509: the way back", try Certificate(converted), chain.server)

    guard let read = SecCertificateCreateWithData(nil, der as CFData) else {
        throw WrongResult(description: "X509: expected that Security reads the certificate")
    }
    try expect("X509: subject", SecCertificateCopySubjectSummary(read) as String?, host)
    try expect("X509: equal objects", CFEqual(read, converted), true)
    return "X509: converted to SecCertificate and back, subject \(host)"
}

/// Evaluates a server with pins, and refuses another name, another key and another CA.
func pinnedTrustCheck() throws -> String {
    let chain = try ServerChain(host: host, authorityName: "SDK CA")
    let other = try ServerChain(host: host, authorityName: "Other CA")
    let server = try ServerChain.der(chain.server)
    let anchors = [try ServerChain.der(chain.authority)]

    let publicKey = try chain.serverKey.publicKey()
    let pin = KeyPin(publicKey: publicKey)
    try expect("PinnedTrust: pin", pin.description, Data(SHA256.hash(data: publicKey)).base64EncodedString())

    let pinned = try PinnedTrust(anchors: anchors, pins: [pin])
    let trusted = try pinned.evaluate([server], host: host)
    try expect("PinnedTrust: chain", trusted.map { SecCertificateCopyData($0) as Data }, [server] + anchors)
    try expect("PinnedTrust: pin of the certificate", trusted.first.flatMap { KeyPin(of: $0) }, pin)

    let name = try code("another name") { _ = try pinned.evaluate([server], host: "other.example") }
    try expect("PinnedTrust: another name", name, Int(errSecHostNameMismatch))
    let late = try code("another date") {
        _ = try pinned.evaluate([server], host: host, date: Date() + 90 * 86400)
    }
    try expect("PinnedTrust: another date", late, Int(errSecCertificateExpired))
    _ = try code("another CA") {
        _ = try PinnedTrust(anchors: [try ServerChain.der(other.authority)]).evaluate([server], host: host)
    }
    let key = try failure("PinnedTrust: another key") {
        let pins: Set = [KeyPin(publicKey: try other.serverKey.publicKey())]
        _ = try PinnedTrust(anchors: anchors, pins: pins).evaluate([server], host: host)
    }
    guard case TrustError.unknownKey = key else {
        throw WrongResult(description: "PinnedTrust: expected TrustError.unknownKey, found \(key)")
    }
    return "PinnedTrust: chain of \(trusted.count), refused: name \(name), date \(late), CA, key"
}

/// Returns the code of an evaluation that must fail.
private func code(_ subject: String, of call: () throws -> Void) throws -> Int {
    let error = try failure("PinnedTrust: \(subject)", of: call)
    guard case TrustError.untrusted(let reason?) = error else {
        throw WrongResult(description: "PinnedTrust: \(subject): expected TrustError.untrusted, found \(error)")
    }
    return CFErrorGetCode(reason)
}
