// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import KeyServices
internal import KeychainModel
internal import LatchkeyService
internal import SecretMemory

/// The kinds of items to export.
struct ExportSelection {
    /// nil for both key classes; no keys are exported if ``hasKeys`` is false.
    let half: KeyHalf?
    let hasKeys: Bool
    let hasCertificates: Bool
    /// Whether only certificates and keys that form an identity are exported.
    let isIdentities: Bool

    init(_ type: String?) throws(CommandFailure) {
        switch type {
        case nil, "all": (half, hasKeys, hasCertificates, isIdentities) = (nil, true, true, false)
        case "allKeys": (half, hasKeys, hasCertificates, isIdentities) = (nil, true, false, false)
        case "pubKeys": (half, hasKeys, hasCertificates, isIdentities) = (.publicKey, true, false, false)
        case "privKeys": (half, hasKeys, hasCertificates, isIdentities) = (.privateKey, true, false, false)
        case "certs": (half, hasKeys, hasCertificates, isIdentities) = (nil, false, true, false)
        case "identities": (half, hasKeys, hasCertificates, isIdentities) = (.privateKey, true, true, true)
        default: throw .usage("-t must be certs, allKeys, pubKeys, privKeys, identities or all")
        }
    }
}
