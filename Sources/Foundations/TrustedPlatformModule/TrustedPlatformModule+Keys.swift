// SPDX-License-Identifier: Apache-2.0

internal import CTSS2
public import SecretMemory

/// Keys on P-256 that never leave the TPM.
extension TrustedPlatformModule {
    /// The length of a digest that a key signs, and of the coordinates of its points.
    public static let fieldLength = 32

    /// Creates a key.
    ///
    /// - Parameter authorization: the value that every use requires; at most 32 bytes, and random.
    public func createKey(authorization: SharedSecret) throws(TPMError) -> TPMObject {
        try run { (module) throws(TPMError) in
            let object = try module.create(PublicTemplate.enclaveKey, authorization: authorization, secret: nil)
            guard PublicTemplate.isEnclaveKey(try object.publicStructure()) else {
                throw .invalidResponse("the key has other properties than were requested")
            }
            return object
        }
    }

    /// Signs a digest with ECDSA.
    ///
    /// - Parameter digest: 32 bytes; they are signed as a number.
    /// - Returns: r and s, of 32 bytes each.
    /// - Throws: ``TPMError/foreign`` if another TPM made the key,
    ///   ``TPMError/wrongAuthorization``.
    public func sign(_ digest: [UInt8], with key: TPMObject, authorization: SharedSecret) throws(TPMError) -> [UInt8] {
        guard digest.count == Self.fieldLength else {
            throw .invalidInput("the TPM signs \(Self.fieldLength) bytes, found \(digest.count)")
        }
        let none = ESYS_TR(ESYS_TR_NONE)
        var structure = try StructureBytes.make(TPM2B_DIGEST(), digest)
        var scheme = TPMT_SIG_SCHEME()
        scheme.scheme = TPMI_ALG_SIG_SCHEME(TPM2_ALG_ECDSA)
        scheme.details.ecdsa.hashAlg = TPMI_ALG_HASH(TPM2_ALG_SHA256)
        // The key is not restricted, so that the digest needs no proof of its origin.
        var ticket = TPMT_TK_HASHCHECK()
        ticket.tag = TPM2_ST(TPM2_ST_HASHCHECK)
        ticket.hierarchy = TPMI_RH_HIERARCHY(TPM2_RH_NULL)
        return try run { (module) throws(TPMError) in
            try module.withLoaded(key, authorization: authorization) { (handle) throws(TPMError) in
                let session = try module.session(.command)
                let signature = try module.library.output { signature in
                    Esys_Sign(
                        module.context, handle, session, none, none, &structure, &scheme, &ticket, &signature)
                }
                guard signature.sigAlg == TPMI_ALG_SIG_SCHEME(TPM2_ALG_ECDSA) else {
                    throw .invalidResponse("the signature has the algorithm \(signature.sigAlg)")
                }
                return try Self.padded(StructureBytes.read(signature.signature.ecdsa.signatureR))
                    + Self.padded(StructureBytes.read(signature.signature.ecdsa.signatureS))
            }
        }
    }

    /// Agrees on a secret with another key.
    ///
    /// - Parameter point: the other public key, `04 ‖ X ‖ Y`.
    /// - Returns: the x-coordinate of the shared point, 32 bytes.
    /// - Throws: ``TPMError/invalidInput(_:)`` if the point is not on the curve; as
    ///   ``sign(_:with:authorization:)``.
    public func agree(
        with point: [UInt8], by key: TPMObject, authorization: SharedSecret
    ) throws(TPMError) -> SharedSecret {
        guard point.count == 1 + 2 * Self.fieldLength, point[0] == 4 else {
            throw .invalidInput("the other key is not an uncompressed point of P-256")
        }
        let none = ESYS_TR(ESYS_TR_NONE)
        var input = TPM2B_ECC_POINT()
        input.point.x = try StructureBytes.make(TPM2B_ECC_PARAMETER(), Array(point[1...Self.fieldLength]))
        input.point.y = try StructureBytes.make(TPM2B_ECC_PARAMETER(), Array(point[(1 + Self.fieldLength)...]))
        return try run { (module) throws(TPMError) in
            try module.withLoaded(key, authorization: authorization) { (handle) throws(TPMError) in
                let session = try module.session(.both)
                var output: UnsafeMutablePointer<TPM2B_ECC_POINT>?
                defer { Esys_Free(output) }
                try module.library.check(
                    Esys_ECDH_ZGen(module.context, handle, session, none, none, &input, &output))
                guard let output else { throw .invalidResponse("it lacks a field") }
                defer {
                    SecretBytes.wipe(
                        UnsafeMutableRawBufferPointer(start: output, count: MemoryLayout<TPM2B_ECC_POINT>.size))
                }
                let x = try StructureBytes.takeSecret(&output.pointee.point.x)
                let secret = try Self.padded(x)
                module.protect(secret)
                return secret
            }
        }
    }

    // MARK: Numbers

    /// A TPM leaves out leading zeros.
    static func padded(_ number: [UInt8]) throws(TPMError) -> [UInt8] {
        guard number.count <= fieldLength else {
            throw .invalidResponse("a number has \(number.count) bytes, expected at most \(fieldLength)")
        }
        return [UInt8](repeating: 0, count: fieldLength - number.count) + number
    }

    private static func padded(_ number: borrowing SecretBytes) throws(TPMError) -> SharedSecret {
        let count = number.count
        guard count <= fieldLength else {
            throw .invalidResponse("a number has \(count) bytes, expected at most \(fieldLength)")
        }
        return number.withUnsafeBytes { bytes in
            SharedSecret(
                SecretBytes(count: fieldLength) { buffer in
                    UnsafeMutableRawBufferPointer(rebasing: buffer[(fieldLength - count)...]).copyMemory(from: bytes)
                })
        }
    }
}

extension TPMObject {
    /// The public key of an enclave key: `04 ‖ X ‖ Y`.
    ///
    /// - Throws: ``TPMError/damaged(_:)`` if it is not one.
    public func publicPoint() throws(TPMError) -> [UInt8] {
        let area = try publicStructure()
        guard PublicTemplate.isEnclaveKey(area) else { throw .damaged("it is not a key on P-256") }
        let point = area.publicArea.unique.ecc
        do throws(TPMError) {
            return try [4] + TrustedPlatformModule.padded(StructureBytes.read(point.x))
                + TrustedPlatformModule.padded(StructureBytes.read(point.y))
        } catch {
            throw .damaged("its public key is too long")
        }
    }
}
