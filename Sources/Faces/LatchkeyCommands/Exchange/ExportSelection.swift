// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import KeyServices
internal import KeychainModel
internal import LatchkeyService
internal import SecretMemory

/// What is exported.
struct ExportSelection {
    /// nil for both halves; no keys at all where ``hasKeys`` is false.
    let half: KeyHalf?
    let hasKeys: Bool
    let hasCertificates: Bool
    /// Only what is both.
    let isIdentities: Bool

    init(_ type: String?) throws(CommandFailure) {
        switch type {
        case nil, "all": (half, hasKeys, hasCertificates, isIdentities) = (nil, true, true, false)
        case "allKeys": (half, hasKeys, hasCertificates, isIdentities) = (nil, true, false, false)
        case "pubKeys": (half, hasKeys, hasCertificates, isIdentities) = (.publicKey, true, false, false)
        case "privKeys": (half, hasKeys, hasCertificates, isIdentities) = (.privateKey, true, false, false)
        case "certs": (half, hasKeys, hasCertificates, isIdentities) = (nil, false, true, false)
        case "identities": (half, hasKeys, hasCertificates, isIdentities) = (.privateKey, true, true, true)
        default: throw .usage("-t is certs, allKeys, pubKeys, privKeys, identities or all")
        }
    }
}
