// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import KeyServices
internal import KeychainModel

extension PublicKey {
    /// Returns the key of a certificate; nil if it is neither RSA nor on a supported curve.
    static func inCertificate(_ certificate: Certificate) -> PublicKey? {
        let info = certificate.publicKey
        let type: KeyType
        switch info.kind {
        case .rsa: type = .rsa
        case .ellipticCurve: type = .ellipticCurve
        case .ed25519, .other: return nil
        }
        let key = info.key.withUnsafeBytes { try? PublicKey(external: $0, type: type) }
        // The length of a point determines the curve. An unsupported curve with points of the same
        // length must not be taken for a supported one.
        guard let key, info.isOn(bits: key.kind.bits) else { return nil }
        return key
    }
}
