// SPDX-License-Identifier: Apache-2.0

internal import CTSS2
internal import LinuxSystem

/// The public areas of the objects that are created (TCG TPM 2.0 Library, part 2, section 12.2.4).
enum PublicTemplate {
    /// Attributes of objects that never leave the TPM.
    private static let fixed = TPMA_OBJECT(TPMA_OBJECT_FIXEDTPM) | TPMA_OBJECT(TPMA_OBJECT_FIXEDPARENT)
    private static let origin = TPMA_OBJECT(TPMA_OBJECT_SENSITIVEDATAORIGIN)
    private static let user = TPMA_OBJECT(TPMA_OBJECT_USERWITHAUTH)
    private static let uncounted = TPMA_OBJECT(TPMA_OBJECT_NODA)

    /// The standard storage key.
    static var storageKey: TPM2B_PUBLIC {
        var area = ellipticCurve(
            fixed | origin | user | uncounted | TPMA_OBJECT(TPMA_OBJECT_RESTRICTED) | TPMA_OBJECT(TPMA_OBJECT_DECRYPT))
        area.publicArea.parameters.eccDetail.symmetric.algorithm = TPM2_ALG_ID(TPM2_ALG_AES)
        area.publicArea.parameters.eccDetail.symmetric.keyBits.aes = 128
        area.publicArea.parameters.eccDetail.symmetric.mode.aes = TPM2_ALG_ID(TPM2_ALG_CFB)
        area.publicArea.unique.ecc.x.size = 32
        area.publicArea.unique.ecc.y.size = 32
        return area
    }

    static func isStorageKey(_ area: TPM2B_PUBLIC) -> Bool {
        let (found, expected) = (area.publicArea, storageKey.publicArea)
        let (detail, wanted) = (found.parameters.eccDetail, expected.parameters.eccDetail)
        return matches(found, expected) && detail.symmetric.algorithm == wanted.symmetric.algorithm
            && detail.symmetric.keyBits.aes == wanted.symmetric.keyBits.aes
            && detail.symmetric.mode.aes == wanted.symmetric.mode.aes
    }

    /// An enclave key: it signs and agrees, and never leaves the TPM. Its authorization value has
    /// 256 random bits, so that wrong ones need not be counted.
    static var enclaveKey: TPM2B_PUBLIC {
        ellipticCurve(
            fixed | origin | user | uncounted | TPMA_OBJECT(TPMA_OBJECT_DECRYPT)
                | TPMA_OBJECT(TPMA_OBJECT_SIGN_ENCRYPT))
    }

    static func isEnclaveKey(_ area: TPM2B_PUBLIC) -> Bool { matches(area.publicArea, enclaveKey.publicArea) }

    /// An attestation key: it signs only statements of the TPM itself. It has no authorization value, because it
    /// reveals nothing that the holder of the other key could not show.
    static var attestationKey: TPM2B_PUBLIC {
        var area = ellipticCurve(
            fixed | origin | user | uncounted | TPMA_OBJECT(TPMA_OBJECT_RESTRICTED)
                | TPMA_OBJECT(TPMA_OBJECT_SIGN_ENCRYPT))
        area.publicArea.parameters.eccDetail.scheme.scheme = TPMI_ALG_ECC_SCHEME(TPM2_ALG_ECDSA)
        area.publicArea.parameters.eccDetail.scheme.details.ecdsa.hashAlg = TPMI_ALG_HASH(TPM2_ALG_SHA256)
        return area
    }

    static func isAttestationKey(_ area: TPM2B_PUBLIC) -> Bool {
        matches(area.publicArea, attestationKey.publicArea)
            && area.publicArea.parameters.eccDetail.scheme.details.ecdsa.hashAlg == TPMI_ALG_HASH(TPM2_ALG_SHA256)
    }

    /// The endorsement key that makers certify: template L-1 (TCG EK Credential Profile 2.0, annex B.3.3).
    static func endorsementKey() throws(TPMError) -> TPM2B_PUBLIC {
        var area = TPM2B_PUBLIC()
        area.publicArea.type = TPMI_ALG_PUBLIC(TPM2_ALG_RSA)
        area.publicArea.nameAlg = TPMI_ALG_HASH(TPM2_ALG_SHA256)
        area.publicArea.objectAttributes =
            fixed | origin | TPMA_OBJECT(TPMA_OBJECT_ADMINWITHPOLICY) | TPMA_OBJECT(TPMA_OBJECT_RESTRICTED)
            | TPMA_OBJECT(TPMA_OBJECT_DECRYPT)
        var policy = PolicyDigest()
        // The authorization of the endorsement hierarchy.
        try policy.requireSecret(of: UInt32(TPM2_RH_ENDORSEMENT).bigEndianBytes)
        area.publicArea.authPolicy = try StructureBytes.make(TPM2B_DIGEST(), policy.bytes)
        area.publicArea.parameters.rsaDetail.symmetric.algorithm = TPM2_ALG_ID(TPM2_ALG_AES)
        area.publicArea.parameters.rsaDetail.symmetric.keyBits.aes = 128
        area.publicArea.parameters.rsaDetail.symmetric.mode.aes = TPM2_ALG_ID(TPM2_ALG_CFB)
        area.publicArea.parameters.rsaDetail.scheme.scheme = TPMI_ALG_RSA_SCHEME(TPM2_ALG_NULL)
        area.publicArea.parameters.rsaDetail.keyBits = 2048
        area.publicArea.unique.rsa.size = 256
        return area
    }

    /// A sealed secret.
    ///
    /// - Parameter policy: the digest of the policy that it requires; empty if the authorization
    ///   value is enough.
    static func sealed(policy: [UInt8]) throws(TPMError) -> TPM2B_PUBLIC {
        var area = TPM2B_PUBLIC()
        area.publicArea.type = TPMI_ALG_PUBLIC(TPM2_ALG_KEYEDHASH)
        area.publicArea.nameAlg = TPMI_ALG_HASH(TPM2_ALG_SHA256)
        area.publicArea.objectAttributes = fixed | uncounted | (policy.isEmpty ? user : 0)
        area.publicArea.authPolicy = try StructureBytes.make(TPM2B_DIGEST(), policy)
        area.publicArea.parameters.keyedHashDetail.scheme.scheme = TPMI_ALG_KEYEDHASH_SCHEME(TPM2_ALG_NULL)
        return area
    }

    private static func ellipticCurve(_ attributes: TPMA_OBJECT) -> TPM2B_PUBLIC {
        var area = TPM2B_PUBLIC()
        area.publicArea.type = TPMI_ALG_PUBLIC(TPM2_ALG_ECC)
        area.publicArea.nameAlg = TPMI_ALG_HASH(TPM2_ALG_SHA256)
        area.publicArea.objectAttributes = attributes
        area.publicArea.parameters.eccDetail.symmetric.algorithm = TPM2_ALG_ID(TPM2_ALG_NULL)
        area.publicArea.parameters.eccDetail.scheme.scheme = TPMI_ALG_ECC_SCHEME(TPM2_ALG_NULL)
        area.publicArea.parameters.eccDetail.curveID = TPMI_ECC_CURVE(TPM2_ECC_NIST_P256)
        area.publicArea.parameters.eccDetail.kdf.scheme = TPMI_ALG_KDF(TPM2_ALG_NULL)
        return area
    }

    private static func matches(_ found: TPMT_PUBLIC, _ expected: TPMT_PUBLIC) -> Bool {
        found.type == expected.type && found.nameAlg == expected.nameAlg
            && found.objectAttributes == expected.objectAttributes && found.authPolicy.size == 0
            && found.parameters.eccDetail.curveID == expected.parameters.eccDetail.curveID
            && found.parameters.eccDetail.scheme.scheme == expected.parameters.eccDetail.scheme.scheme
    }
}
