// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import KeychainModel

extension TrustRule {
    /// The name that `security` has used since CDSA, if scripts know the rule by it; otherwise the
    /// name of the rule's status.
    var traditionalName: String {
        switch self {
        case .untrusted: "CSSMERR_TP_NOT_TRUSTED"
        case .expired: "CSSMERR_TP_CERT_EXPIRED"
        case .notYetValid: "CSSMERR_TP_CERT_NOT_VALID_YET"
        case .revoked: "CSSMERR_TP_CERT_REVOKED"
        case .serverName: "CSSMERR_APPLETP_HOSTNAME_MISMATCH"
        case .extendedKeyUsage: "CSSMERR_APPLETP_INVALID_EXTENDED_KEY_USAGE"
        default: status.name ?? status.description
        }
    }
}
