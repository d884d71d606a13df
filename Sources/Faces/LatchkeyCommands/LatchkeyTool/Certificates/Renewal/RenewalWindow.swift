// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import KeychainModel

/// The validity of a renewed certificate.
struct RenewalWindow {
    let start: CertificateTime
    let end: CertificateTime

    /// - Throws: errSecParam if the issuer is not a CA, or ends earlier.
    init(days: Int, issuer: Certificate?) throws(CommandFailure) {
        start = CertificateTime(secondsSince1970: Int64(try ValidationTime.validationTime(nil)))
        end = CertificateTime(secondsSince1970: start.secondsSince1970 + Int64(days) * 86_400 - 1)
        guard let issuer else { return }
        let summary = issuer.subjectSummary ?? "the issuer"
        let usage = issuer.extensions.keyUsage
        guard issuer.extensions.basicConstraints?.isCA == true, usage?.contains(.keyCertSign) ?? true else {
            throw .parameter("\(summary) is not a CA, so it cannot issue certificates")
        }
        guard start < issuer.validity.notAfter, end <= issuer.validity.notAfter else {
            throw .parameter("\(summary) is valid only until \(issuer.validity.notAfter)", hint: "fewer --days")
        }
    }
}
