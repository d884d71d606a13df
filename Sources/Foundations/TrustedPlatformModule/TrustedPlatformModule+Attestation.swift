// SPDX-License-Identifier: Apache-2.0

internal import CTSS2
internal import LinuxSystem
public import SecretMemory

/// Proving to others that a key is in this TPM (TCG TPM 2.0 Library, part 1, section 24 and 31).
extension TrustedPlatformModule {
    /// The longest nonce of a certification.
    public static let maxNonceLength = 32

    /// The certificate of the endorsement key that the TPM's maker has stored in it, in DER; nil if
    /// there is none. It is not verified.
    public func endorsementCertificate() throws(TPMError) -> [UInt8]? {
        try run { (module) throws(TPMError) in
            let handle: ObjectHandle
            do throws(TPMError) {
                handle = try module.handle(ofIndex: EndorsementKey.certificateIndex)
            } catch .noIndex {
                return nil
            }
            defer { module.library.flush(handle) }
            return try EndorsementKey.certificate(in: try module.content(of: handle))
        }
    }

    /// Creates a key that signs only statements of the TPM itself.
    public func createAttestationKey() throws(TPMError) -> TPMObject {
        try run { (module) throws(TPMError) in
            let object = try module.create(PublicTemplate.attestationKey, authorization: nil, secret: nil)
            guard PublicTemplate.isAttestationKey(try object.publicStructure()) else {
                throw .invalidResponse("the key has other properties than were requested")
            }
            return object
        }
    }

    /// Opens a secret that was encrypted for the endorsement key and an attestation key: proof that both are in this
    /// TPM.
    ///
    /// - Parameters:
    ///   - credential: `TPMS_ID_OBJECT` without its length: the code and the encrypted secret.
    ///   - seed: the seed, encrypted for the endorsement key.
    ///   - key: the attestation key.
    /// - Throws: ``TPMError/foreign`` if it was made for another TPM or another key.
    public func activate(_ credential: [UInt8], seed: [UInt8], for key: TPMObject) throws(TPMError) -> SharedSecret {
        var credential = try StructureBytes.make(TPM2B_ID_OBJECT(), credential)
        var seed = try StructureBytes.make(TPM2B_ENCRYPTED_SECRET(), seed)
        let password = ESYS_TR(ESYS_TR_PASSWORD)
        return try run { (module) throws(TPMError) in
            guard PublicTemplate.isAttestationKey(try key.publicStructure()) else {
                throw .invalidInput("the object is not an attestation key")
            }
            return try module.withLoaded(key, authorization: nil) { (key) throws(TPMError) in
                try EndorsementKey.withKey(module) { (endorsement) throws(TPMError) in
                    try module.withPolicySession { (policy) throws(TPMError) in
                        try module.requireSecret(of: ESYS_TR(ESYS_TR_RH_ENDORSEMENT), in: policy)
                        let session = try module.session(.response)
                        do throws(TPMError) {
                            return SharedSecret(
                                try module.library.secret { secret in
                                    Esys_ActivateCredential(
                                        module.context, key, endorsement.number, password, policy, session,
                                        &credential, &seed, &secret)
                                })
                        } catch {
                            throw EndorsementKey.isWrongSeed(error) ? .foreign : error
                        }
                    }
                }
            }
        }
    }

    /// Certifies that a key is in this TPM, with its attributes.
    ///
    /// - Parameters:
    ///   - authorization: the authorization value of the certified key.
    ///   - attestationKey: the key that signs.
    ///   - nonce: at most 32 bytes; the statement contains them.
    /// - Returns: the statement (`TPMS_ATTEST`), and r and s, of 32 bytes each, of its SHA-256.
    public func certify(
        _ key: TPMObject, authorization: SharedSecret, by attestationKey: TPMObject, nonce: [UInt8]
    ) throws(TPMError) -> (statement: [UInt8], signature: [UInt8]) {
        guard nonce.count <= Self.maxNonceLength else {
            throw .invalidInput("a nonce has at most \(Self.maxNonceLength) bytes, found \(nonce.count)")
        }
        let none = ESYS_TR(ESYS_TR_NONE)
        var data = try StructureBytes.make(TPM2B_DATA(), nonce)
        var scheme = TPMT_SIG_SCHEME()
        scheme.scheme = TPMI_ALG_SIG_SCHEME(TPM2_ALG_NULL)
        return try run { (module) throws(TPMError) in
            guard PublicTemplate.isAttestationKey(try attestationKey.publicStructure()) else {
                throw .invalidInput("the object is not an attestation key")
            }
            return try module.withLoaded(key, authorization: authorization) { (key) throws(TPMError) in
                try module.withLoaded(attestationKey, authorization: nil) { (signer) throws(TPMError) in
                    let session = try module.session(.none)
                    var statement: UnsafeMutablePointer<TPM2B_ATTEST>?
                    var signature: UnsafeMutablePointer<TPMT_SIGNATURE>?
                    defer {
                        Esys_Free(statement)
                        Esys_Free(signature)
                    }
                    try module.library.check(
                        Esys_Certify(
                            module.context, key, signer, session, ESYS_TR(ESYS_TR_PASSWORD), none, &data, &scheme,
                            &statement, &signature))
                    guard let statement, let signature = signature?.pointee,
                        signature.sigAlg == TPMI_ALG_SIG_SCHEME(TPM2_ALG_ECDSA)
                    else { throw .invalidResponse("the statement is not signed with ECDSA") }
                    return (
                        try StructureBytes.read(statement.pointee),
                        try Self.padded(StructureBytes.read(signature.signature.ecdsa.signatureR))
                            + Self.padded(StructureBytes.read(signature.signature.ecdsa.signatureS))
                    )
                }
            }
        }
    }
}

/// The endorsement key, and where it and its certificate are (TCG EK Credential Profile 2.0, section
/// 2.2; TCG registry of reserved handles).
private enum EndorsementKey {
    static let persistentHandle: TPM2_HANDLE = 0x8101_0001
    static let certificateIndex: UInt32 = 0x01C0_0002

    /// Runs `body` with the key: the persistent one, or one that is derived again. The derivation takes seconds.
    static func withKey<Result: ~Copyable>(
        _ module: OpenModule, _ body: (ObjectHandle) throws(TPMError) -> Result
    ) throws(TPMError) -> Result {
        let key = if let found = try persistent(module) { found } else { try derived(module) }
        defer { module.library.flush(key) }
        return try body(key)
    }

    private static func persistent(_ module: OpenModule) throws(TPMError) -> ObjectHandle? {
        let none = ESYS_TR(ESYS_TR_NONE)
        do throws(TPMError) {
            var key = try module.library.object { handle in
                Esys_TR_FromTPMPublic(module.context, persistentHandle, none, none, none, &handle)
            }
            key.isPersistent = true
            return key
        } catch {
            guard error.isUnknownHandle else { throw error }
            return nil
        }
    }

    private static func derived(_ module: OpenModule) throws(TPMError) -> ObjectHandle {
        let none = ESYS_TR(ESYS_TR_NONE)
        var sensitive = TPM2B_SENSITIVE_CREATE()
        var template = try PublicTemplate.endorsementKey()
        var outside = TPM2B_DATA()
        var registers = TPML_PCR_SELECTION()
        return try module.library.object { handle in
            Esys_CreatePrimary(
                module.context, ESYS_TR(ESYS_TR_RH_ENDORSEMENT), ESYS_TR(ESYS_TR_PASSWORD), none, none, &sensitive,
                &template, &outside, &registers, &handle, nil, nil, nil, nil)
        }
    }

    /// Returns the certificate in the content of its index. The content can be longer.
    static func certificate(in content: [UInt8]) throws(TPMError) -> [UInt8]? {
        // A DER SEQUENCE with a length of two bytes: no certificate is shorter or longer.
        var fields = FieldReader(content)
        guard fields.number() == UInt16(0x3082), let length: UInt16 = fields.number(), fields.bytes(Int(length)) != nil
        else { return nil }
        return Array(content.dropLast(fields.remaining))
    }

    /// Whether a seed is not one for this key: TPM_RC_SIZE, VALUE, HASH and others for the second
    /// parameter, or TPM_RC_FAILURE, after commands that succeeded.
    static func isWrongSeed(_ error: TPMError) -> Bool {
        switch error {
        case .failed: true
        case .refused(let code): code >> 16 == 0 && code & 0xFC0 == 0x2C0
        default: false
        }
    }
}

extension OpenModule {
    /// The content of an index that anybody may read.
    fileprivate func content(of handle: ObjectHandle) throws(TPMError) -> [UInt8] {
        let none = ESYS_TR(ESYS_TR_NONE)
        var area: UnsafeMutablePointer<TPM2B_NV_PUBLIC>?
        defer { Esys_Free(area) }
        try library.check(Esys_NV_ReadPublic(context, handle.number, none, none, none, &area, nil))
        guard let size = area?.pointee.nvPublic.dataSize, size <= Self.maxContent else {
            throw .invalidResponse("an index is too long")
        }
        var content: [UInt8] = []
        while content.count < Int(size) {
            let count = min(UInt16(Self.partLength), size - UInt16(content.count))
            let part = try StructureBytes.read(
                try library.output { data in
                    Esys_NV_Read(
                        context, handle.number, handle.number, ESYS_TR(ESYS_TR_PASSWORD), none, none, count,
                        UInt16(content.count), &data)
                })
            guard part.count == Int(count) else { throw .invalidResponse("a part of an index is shorter") }
            content += part
        }
        return content
    }

    private static let maxContent: UInt16 = 8192
    /// Every TPM reads as much at once.
    private static let partLength = 512
}

extension TPMObject {
    /// The public area as others see it: `TPMT_PUBLIC`. Its digest is the object's name.
    public var publicTemplate: [UInt8] { Array(publicArea.dropFirst(2)) }
}
