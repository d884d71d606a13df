// SPDX-License-Identifier: Apache-2.0

internal import CTSS2
public import SecretMemory

/// Secrets that only this TPM opens.
extension TrustedPlatformModule {
    /// The longest secret in bytes.
    public static let maxSecretLength = 64

    /// Seals a secret.
    ///
    /// - Parameters:
    ///   - secret: at most 64 bytes.
    ///   - authorization: the value that opening it requires; at most 32 bytes, and random, because wrong ones are not
    ///     counted.
    public func seal(_ secret: SharedSecret, authorization: SharedSecret) throws(TPMError) -> TPMObject {
        try seal(secret, authorization, policy: [])
    }

    /// Seals a secret to the present values of PCRs.
    public func seal(_ secret: SharedSecret, to registers: RegisterSelection) throws(TPMError) -> TPMObject {
        var policy = PolicyDigest()
        try policy.requireRegisters(registers, digest: try digest(of: registers))
        return try seal(secret, nil, policy: policy.bytes)
    }

    func seal(
        _ secret: SharedSecret, _ authorization: SharedSecret?, policy: [UInt8]
    ) throws(TPMError) -> TPMObject {
        guard 1...Self.maxSecretLength ~= secret.count else {
            throw .invalidInput("the TPM seals 1 to \(Self.maxSecretLength) bytes, found \(secret.count)")
        }
        let template = try PublicTemplate.sealed(policy: policy)
        return try run { (module) throws(TPMError) in
            try module.create(template, authorization: authorization, secret: secret)
        }
    }

    /// Opens a sealed secret.
    ///
    /// - Throws: ``TPMError/foreign``, ``TPMError/wrongAuthorization``.
    public func unseal(_ object: TPMObject, authorization: SharedSecret) throws(TPMError) -> SharedSecret {
        let none = ESYS_TR(ESYS_TR_NONE)
        return try run { (module) throws(TPMError) in
            try module.withLoaded(object, authorization: authorization) { (handle) throws(TPMError) in
                let session = try module.session(.response)
                return try module.unsealed { Esys_Unseal(module.context, handle, session, none, none, &$0) }
            }
        }
    }

    /// Opens a secret that is sealed to PCRs.
    ///
    /// - Throws: ``TPMError/policyFailed`` if they have other values than at the sealing.
    public func unseal(_ object: TPMObject, with registers: RegisterSelection) throws(TPMError) -> SharedSecret {
        let none = ESYS_TR(ESYS_TR_NONE)
        return try run { (module) throws(TPMError) in
            try module.unseal(object) { (policy) throws(TPMError) in
                var digest = TPM2B_DIGEST()
                var selection = registers.structure
                try module.library.check(
                    Esys_PolicyPCR(module.context, policy, none, none, none, &digest, &selection))
            }
        }
    }

    /// The digest of the present values of PCRs.
    ///
    /// - Throws: ``TPMError/unsupported(_:)`` if the TPM has no SHA-256 bank.
    public func digest(of registers: RegisterSelection) throws(TPMError) -> [UInt8] {
        let none = ESYS_TR(ESYS_TR_NONE)
        return try run { (module) throws(TPMError) in
            let session = try module.session(.audit)
            var selection = registers.structure
            var counter: UInt32 = 0
            var read: UnsafeMutablePointer<TPML_PCR_SELECTION>?
            var values: UnsafeMutablePointer<TPML_DIGEST>?
            defer {
                Esys_Free(read)
                Esys_Free(values)
            }
            try module.library.check(
                Esys_PCR_Read(module.context, session, none, none, &selection, &counter, &read, &values))
            guard let values, Int(values.pointee.count) == registers.numbers.count else {
                throw .unsupported("these PCRs in a bank of SHA-256")
            }
            var joined: [UInt8] = []
            var digests = values.pointee.digests
            let stride = MemoryLayout<TPM2B_DIGEST>.stride
            for index in 0..<registers.numbers.count {
                let value = withUnsafeBytes(of: &digests) {
                    $0.loadUnaligned(fromByteOffset: index * stride, as: TPM2B_DIGEST.self)
                }
                joined += try StructureBytes.read(value)
            }
            return try PolicyDigest.digest(of: joined)
        }
    }
}

extension OpenModule {
    /// Opens a sealed secret by its policy.
    ///
    /// - Parameter satisfy: executes the policy's commands in the session that it is given.
    func unseal(_ object: TPMObject, _ satisfy: (ESYS_TR) throws(TPMError) -> Void) throws(TPMError) -> SharedSecret {
        try withPolicySession { (policy) throws(TPMError) in
            try satisfy(policy)
            return try withLoaded(object, authorization: nil) { (handle) throws(TPMError) in
                let session = try session(.response)
                return try unsealed {
                    Esys_Unseal(context, handle, policy, session, ESYS_TR(ESYS_TR_NONE), &$0)
                }
            }
        }
    }

    func unsealed(
        _ function: (inout UnsafeMutablePointer<TPM2B_SENSITIVE_DATA>?) -> TSS2_RC
    ) throws(TPMError) -> SharedSecret {
        let secret = SharedSecret(try library.secret(function))
        protect(secret)
        return secret
    }

    /// Runs `body` with a new session for a policy, and ends the session.
    func withPolicySession<Result>(_ body: (ESYS_TR) throws(TPMError) -> Result) throws(TPMError) -> Result {
        let policy = try library.startSession(saltedWith: parent, TPM2_SE(TPM2_SE_POLICY))
        defer { library.flush(policy) }
        return try body(policy.number)
    }
}
