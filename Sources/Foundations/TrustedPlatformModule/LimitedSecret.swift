// SPDX-License-Identifier: Apache-2.0

internal import CTSS2
internal import LinuxSystem
public import SecretMemory

/// A secret that the TPM releases for the right PIN, and only so often tries (TCG TPM 2.0 Library,
/// part 1, section 37.2.8: TPM_NT_PIN_FAIL).
///
/// The TPM counts wrong PINs in an index, and refuses the right one, too, once the count has reached the limit. No user
/// can reset the count: the index is written once, with a key that is never stored. An index that is defined in its
/// place has another name, and the secret is not sealed to that name.
public struct LimitedSecret: Hashable, Sendable {
    /// The index that counts.
    public let index: NonvolatileIndex
    /// The sealed secret.
    public let object: TPMObject

    public init(index: NonvolatileIndex, object: TPMObject) { (self.index, self.object) = (index, object) }

    /// The index and the object, each in its own encoding.
    public var encoded: [UInt8] { index.encoded + object.encoded }

    /// - Throws: ``TPMError/damaged(_:)`` for bytes that ``encoded`` does not write,
    ///   ``TPMError/newerVersion(found:known:)``.
    public init(decoding bytes: [UInt8]) throws(TPMError) {
        index = try NonvolatileIndex(decoding: Array(bytes.prefix(NonvolatileIndex.encodedLength)))
        object = try TPMObject(decoding: Array(bytes.dropFirst(NonvolatileIndex.encodedLength)))
    }
}

/// How many wrong PINs were tried, and how many are accepted.
public struct AttemptCount: Hashable, Sendable {
    public let failed: UInt32
    public let limit: UInt32

    public init(failed: UInt32, limit: UInt32) { (self.failed, self.limit) = (failed, limit) }
}

extension TrustedPlatformModule {
    /// Seals a secret to a PIN.
    ///
    /// - Parameters:
    ///   - secret: at most 64 bytes.
    ///   - pin: 32 bytes that are derived from a secret that a person knows.
    ///   - limit: how many wrong PINs are accepted until the next right one.
    public func seal(_ secret: SharedSecret, pin: SharedSecret, limit: UInt32) throws(TPMError) -> LimitedSecret {
        let attributes =
            TPMA_NV(TPM2_NT_PIN_FAIL) << TPMA_NV(TPMA_NV_TPM2_NT_SHIFT) | TPMA_NV(TPMA_NV_OWNERREAD)
            | TPMA_NV(TPMA_NV_POLICYWRITE) | TPMA_NV(TPMA_NV_NO_DA)
        return try run { (module) throws(TPMError) in
            // The key that writes the index: an object with a random name. It is never stored.
            let password = SharedSecret(.random(count: 32))
            let writer = try module.create(
                try PublicTemplate.sealed(policy: []), authorization: password,
                secret: SharedSecret(.random(count: 32)))
            return try module.withLoaded(writer, authorization: password) { (writer) throws(TPMError) in
                var policy = PolicyDigest()
                try policy.requireSecret(of: try module.name(of: writer))
                let (number, handle) = try module.defineIndex(attributes, length: 8, policy: policy.bytes, pin)
                do throws(TPMError) {
                    try module.write(UInt32(0).bigEndianBytes + limit.bigEndianBytes, to: handle, authorizedBy: writer)
                    let index = NonvolatileIndex(number: number, name: try module.name(ofIndex: handle))
                    var policy = PolicyDigest()
                    try policy.requireSecret(of: index.name)
                    let object = try module.create(
                        try PublicTemplate.sealed(policy: policy.bytes), authorization: nil, secret: secret)
                    module.library.flush(handle)
                    return LimitedSecret(index: index, object: object)
                } catch {
                    // Without its object, the index would only take room.
                    try? module.undefineIndex(handle)
                    throw error
                }
            }
        }
    }

    /// Opens a secret with its PIN.
    ///
    /// - Throws:
    ///   ``TPMError/wrongAuthorization`` for a wrong PIN, after the TPM has counted it; ``TPMError/noAttemptsLeft`` if
    ///   no more PIN is accepted.
    public func unseal(_ secret: LimitedSecret, pin: SharedSecret) throws(TPMError) -> SharedSecret {
        try run { (module) throws(TPMError) in
            try module.withIndex(secret.index, pin) { (index) throws(TPMError) in
                try module.unseal(secret.object) { (policy) throws(TPMError) in
                    // A wrong PIN would be counted twice.
                    module.begin()
                    do throws(TPMError) {
                        try module.requireSecret(of: index.number, in: policy)
                    } catch .policyFailed {
                        throw .noAttemptsLeft
                    }
                }
            }
        }
    }

    /// How many wrong PINs were counted.
    public func attempts(of secret: LimitedSecret) throws(TPMError) -> AttemptCount {
        let none = ESYS_TR(ESYS_TR_NONE)
        return try run { (module) throws(TPMError) in
            try module.withIndex(secret.index) { (index) throws(TPMError) in
                let session = try module.session(.response)
                let bytes = try StructureBytes.read(
                    try module.library.output { data in
                        Esys_NV_Read(
                            module.context, ESYS_TR(ESYS_TR_RH_OWNER), index.number, session, none, none, 8, 0, &data)
                    })
                var fields = FieldReader(bytes)
                guard let failed: UInt32 = fields.number(), let limit: UInt32 = fields.number(), fields.isAtEnd else {
                    throw .invalidResponse("the count has \(bytes.count) bytes, expected 8")
                }
                return AttemptCount(failed: failed, limit: limit)
            }
        }
    }
}

extension OpenModule {
    /// The name of a loaded object.
    fileprivate func name(of handle: ESYS_TR) throws(TPMError) -> [UInt8] {
        try StructureBytes.read(try library.output { name in Esys_TR_GetName(context, handle, &name) })
    }

    /// Satisfies a policy by the authorization value of an entity.
    func requireSecret(of entity: ESYS_TR, in policy: ESYS_TR) throws(TPMError) {
        let session = try session(.none)
        try library.check(
            Esys_PolicySecret(
                context, entity, policy, session, ESYS_TR(ESYS_TR_NONE), ESYS_TR(ESYS_TR_NONE), nil, nil, nil, 0, nil,
                nil))
    }

    /// Writes an index with a policy that requires the authorization of `writer`.
    fileprivate func write(
        _ bytes: [UInt8], to index: ObjectHandle, authorizedBy writer: ESYS_TR
    ) throws(TPMError) {
        var data = try StructureBytes.make(TPM2B_MAX_NV_BUFFER(), bytes)
        try withPolicySession { (policy) throws(TPMError) in
            try requireSecret(of: writer, in: policy)
            try library.check(
                Esys_NV_Write(
                    context, index.number, index.number, policy, ESYS_TR(ESYS_TR_NONE), ESYS_TR(ESYS_TR_NONE), &data, 0)
            )
        }
    }
}
