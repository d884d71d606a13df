// SPDX-License-Identifier: Apache-2.0

internal import SwiftASN1

/// A log of certificates. Its timestamps are accepted.
public struct CertificateLog: Sendable {
    /// The name of the log, for messages.
    public let name: String
    /// Who operates the log. Timestamps of logs of one operator count as those of one witness.
    public let operatorName: String
    /// SHA-256 of the public key.
    public let identifier: [UInt8]
    /// The timestamps before this time are accepted, in seconds since 1970; nil for all. A log that
    /// was retired has one.
    public let retirement: CertificateTime?
    /// Certificates are accepted that expire in this interval; nil for all.
    public let expirations: Range<CertificateTime>?
    private let key: VerificationKey

    /// - Parameters:
    ///   - key: the DER of the `SubjectPublicKeyInfo`: on P-256, or RSA with at least 2048 bits.
    ///   - name: the name of the log, for messages.
    ///   - operatorName: who operates the log.
    ///   - retirement: as ``retirement``.
    ///   - expirations: as ``expirations``.
    /// - Throws: if the key cannot be read, or is of another kind (RFC 6962, section 2.1.4).
    public init(
        key: [UInt8], name: String, operatorName: String, retirement: CertificateTime? = nil,
        expirations: Range<CertificateTime>? = nil
    ) throws(CertificateError) {
        let info: SubjectPublicKeyInfo
        do {
            info = try SubjectPublicKeyInfo(try DER.parse(key))
        } catch {
            throw CertificateError("the key of the log is not a SubjectPublicKeyInfo: \(error)")
        }
        guard info.isOn(bits: 256) else { throw CertificateError("a log's key is RSA or on P-256") }
        self.key = try VerificationKey(info)
        (self.name, self.operatorName, identifier) = (name, operatorName, info.sha256)
        (self.retirement, self.expirations) = (retirement, expirations)
    }

    /// Why the timestamp is not accepted, whether it is authentic or not; nil if it can be.
    func problem(
        with timestamp: SignedCertificateTimestamp, of certificate: Certificate, at validationTime: Double
    ) -> String? {
        let seconds = Double(timestamp.milliseconds) / 1000
        if seconds > validationTime { return "the timestamp of \(name) is in the future" }
        if let retirement, seconds >= Double(retirement.secondsSince1970) {
            return "\(name) was retired at \(retirement), before its timestamp"
        }
        if let expirations, !expirations.contains(certificate.validity.notAfter) {
            return "\(name) does not accept certificates that expire at \(certificate.validity.notAfter)"
        }
        return nil
    }

    /// Whether the log made the timestamp for these bytes.
    func isSignature(_ timestamp: SignedCertificateTimestamp, of message: [UInt8]) -> Bool {
        guard let algorithm = timestamp.algorithm.identifier else { return false }
        return (try? key.isSignature(timestamp.signature[...], of: message[...], algorithm)) ?? false
    }
}
