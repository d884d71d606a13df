// SPDX-License-Identifier: Apache-2.0

internal import CTSS2

/// A counter in the TPM, which only counts up. If it is removed and defined again, it begins above
/// the highest value that any counter of the TPM has had.
extension TrustedPlatformModule {
    /// Defines a counter, and counts to its first value.
    public func createCounter() throws(TPMError) -> (index: NonvolatileIndex, value: UInt64) {
        let attributes =
            TPMA_NV(TPM2_NT_COUNTER) << TPMA_NV(TPMA_NV_TPM2_NT_SHIFT) | TPMA_NV(TPMA_NV_AUTHREAD)
            | TPMA_NV(TPMA_NV_AUTHWRITE) | TPMA_NV(TPMA_NV_OWNERREAD) | TPMA_NV(TPMA_NV_NO_DA)
        return try run { (module) throws(TPMError) in
            module.begin()
            let (number, handle) = try module.defineIndex(attributes, length: 8, policy: []) { _ in }
            defer { module.library.flush(handle) }
            try module.increment(handle)
            let index = NonvolatileIndex(number: number, name: try module.name(ofIndex: handle))
            return (index, try module.value(of: handle))
        }
    }

    public func value(of counter: NonvolatileIndex) throws(TPMError) -> UInt64 {
        try run { (module) throws(TPMError) in
            try module.withIndex(counter) { (handle) throws(TPMError) in try module.value(of: handle) }
        }
    }

    /// Counts to the next value. This writes to the non-volatile memory, which wears.
    ///
    /// - Returns: the new value.
    public func increment(_ counter: NonvolatileIndex) throws(TPMError) -> UInt64 {
        try run { (module) throws(TPMError) in
            try module.withIndex(counter) { (handle) throws(TPMError) in
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
        guard bytes.count == 8 else { throw .invalidResponse("a counter has \(bytes.count) bytes, expected 8") }
        return bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
}
