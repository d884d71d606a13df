// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import CryptographicMessages
internal import KeyServices
internal import KeychainModel

/// Fuzzes everything that reads CMS messages from outside. The first byte selects the reader, the
/// rest is its input. A valid signature must be by a certificate of the message; without the right
/// content or the right key nothing must be accepted.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzMessages(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let bytes = UnsafeRawBufferPointer(start: start, count: count)
    guard let choice = bytes.first else { return 0 }
    let rest = Array(bytes.dropFirst())
    switch choice % 4 {
    case 0: if let message = try? CryptographicMessage(rest) { check(message) }
    case 1: if let message = try? CryptographicMessage(type: .cmsSignedData, content: rest) { check(message) }
    case 2: if let message = try? CryptographicMessage(type: .cmsEnvelopedData, content: rest) { check(message) }
    default:
        var small = MessageLimits()
        (small.elements, small.depth, small.certificates, small.signers) = (100, 8, 1, 1)
        if let message = try? CryptographicMessage(rest, limits: small) { check(message) }
    }
    return 0
}

private enum Keys {
    static let curve = try? SoftwareKey.generate(KeyKind(.ellipticCurve, bits: 256))
    static let rsa = try? SoftwareKey.generate(KeyKind(.rsa, bits: 1024))
}

private func check(_ message: CryptographicMessage) {
    switch message {
    case .data: break
    case .signed(let message): check(message)
    case .enveloped(let message): check(message)
    }
}

private func check(_ message: SignedMessage) {
    let verdicts = message.verdicts()
    guard verdicts.count == message.signers.count else {
        fatalError("a signer has no verdict, because the signers are counted twice")
    }
    for verdict in verdicts {
        if let certificate = verdict.certificate, !message.certificates.contains(certificate) {
            fatalError("a signature is of a certificate that is not in the message, because the search is wrong")
        }
        _ = verdict.description
    }
    _ = message.signers.map { ($0.signingTime, $0.identifier.description) }
    // A content that no seed signs.
    for verdict in message.verdicts(detachedContent: [0x4C, 0x4B]) where message.content != nil {
        if case .valid = verdict, message.content?.elementsEqual([0x4C, 0x4B]) != true {
            fatalError("a signature is valid for another content, because the content is not compared")
        }
    }
}

private func check(_ message: EnvelopedMessage) {
    for recipient in message.recipients.prefix(8) {
        for key in [Keys.curve, Keys.rsa].compactMap(\.self) {
            _ = try? message.content(for: recipient, by: key)
        }
        _ = recipient.identifier.description
    }
}
