// SPDX-License-Identifier: Apache-2.0

internal import CTSS2
internal import LinuxSystem
public import SecretMemory

/// A counter in the TPM that only counts up. If it is removed and defined again, it begins above the highest value that
/// any counter of the TPM has had.
extension TrustedPlatformModule {
    /// Defines a counter, and counts to its first value.
    ///
    /// - Parameter authorization: the value that reading and counting require, at most 32 bytes. The owner of the TPM
    ///   can remove the counter without it, but not count.
    public func createCounter(
        authorization: SharedSecret
    ) throws(TPMError) -> (index: NonvolatileIndex, value: UInt64) {
        let attributes =
            TPMA_NV(TPM2_NT_COUNTER) << TPMA_NV(TPMA_NV_TPM2_NT_SHIFT) | TPMA_NV(TPMA_NV_AUTHREAD)
            | TPMA_NV(TPMA_NV_AUTHWRITE) | TPMA_NV(TPMA_NV_NO_DA)
        return try run { (module) throws(TPMError) in
            let (number, handle) = try module.defineIndex(attributes, length: 8, policy: [], authorization)
            defer { module.library.flush(handle) }
            do throws(TPMError) {
                try module.library.setAuthorization(of: handle, authorization)
                defer { module.library.forgetAuthorization(of: handle, count: authorization.count) }
                try module.increment(handle)
                let index = NonvolatileIndex(number: number, name: try module.name(ofIndex: handle))
                return (index, try module.value(of: handle))
            } catch {
                // Its name is stored nowhere, so it would only take room.
                try? module.undefineIndex(handle)
                throw error
            }
        }
    }

    /// - Throws: ``TPMError/noIndex(_:)``, ``TPMError/foreignIndex(_:)``,
    ///   ``TPMError/wrongAuthorization``.
    public func value(of counter: NonvolatileIndex, authorization: SharedSecret) throws(TPMError) -> UInt64 {
        try run { (module) throws(TPMError) in
            try module.withIndex(counter, authorization) { (handle) throws(TPMError) in
                try module.value(of: handle)
            }
        }
    }

    /// Counts to the next value. This writes to the non-volatile memory, and wears it.
    ///
    /// - Returns: the new value.
    public func increment(_ counter: NonvolatileIndex, authorization: SharedSecret) throws(TPMError) -> UInt64 {
        try run { (module) throws(TPMError) in
            try module.withIndex(counter, authorization) { (handle) throws(TPMError) in
                module.begin()
                try module.increment(handle)
                return try module.value(of: handle)
            }
        }
    }
}

extension OpenModule {
    fileprivate func increment(_ handle: ObjectHandle) throws(TPMError) {
        let none = ESYS_TR(ESYS_TR_NONE)
        let session = try session(.none)
        try library.check(Esys_NV_Increment(context, handle.number, handle.number, session, none, none))
    }

    fileprivate func value(of handle: ObjectHandle) throws(TPMError) -> UInt64 {
        let none = ESYS_TR(ESYS_TR_NONE)
        let session = try session(.response)
        let bytes = try StructureBytes.read(
            try library.output { data in
                Esys_NV_Read(context, handle.number, handle.number, session, none, none, 8, 0, &data)
            })
        guard bytes.count == 8, let value = UInt64(bigEndianBytes: bytes) else {
            throw .invalidResponse("a counter has \(bytes.count) bytes, expected 8")
        }
        return value
    }
}
