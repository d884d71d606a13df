// SPDX-License-Identifier: Apache-2.0

internal import CTSS2
internal import LinuxSystem
internal import SecretMemory

/// An index of the TPM's non-volatile memory: its number, and its name, the digest of its definition. Another index
/// with the same number has another name.
public struct NonvolatileIndex: Hashable, Sendable {
    public let number: UInt32
    let name: [UInt8]

    /// The numbers that the owner of a TPM may use (TCG registry of reserved handles), from where
    /// other programs rarely begin.
    static let numbers: ClosedRange<UInt32> = 0x0180_4C00...0x0180_4FFF

    /// 4 bytes of the number, and 34 of the name.
    public var encoded: [UInt8] { number.bigEndianBytes + name }

    public static let encodedLength = 4 + TPMObject.nameLength

    /// - Throws: ``TPMError/damaged(_:)`` for bytes that ``encoded`` does not write.
    public init(decoding bytes: [UInt8]) throws(TPMError) {
        var fields = FieldReader(bytes)
        guard let number: UInt32 = fields.number(), let name = fields.array(TPMObject.nameLength), fields.isAtEnd else {
            throw .damaged("an index has \(bytes.count) bytes, expected \(Self.encodedLength)")
        }
        (self.number, self.name) = (number, name)
        guard Self.numbers ~= number else { throw .damaged("the number of an index is not one of Latchkey's") }
    }

    init(number: UInt32, name: [UInt8]) { (self.number, self.name) = (number, name) }
}

extension OpenModule {
    /// Defines an index under a free number.
    ///
    /// - Parameters:
    ///   - attributes: with the type of the index.
    ///   - policy: the digest of the policy for writing; empty for none.
    ///   - authorization: at most 32 bytes.
    /// - Returns: the number, and the index's handle.
    func defineIndex(
        _ attributes: TPMA_NV, length: UInt16, policy: [UInt8], _ authorization: SharedSecret
    ) throws(TPMError) -> (number: UInt32, handle: ObjectHandle) {
        for _ in 1..<Self.maxDefinitions {
            do throws(TPMError) {
                return try defineFreeIndex(attributes, length: length, policy: policy, authorization)
            } catch .indexExists {
                // Another program has just taken the number.
            }
        }
        return try defineFreeIndex(attributes, length: length, policy: policy, authorization)
    }

    private static let maxDefinitions = 8

    private func defineFreeIndex(
        _ attributes: TPMA_NV, length: UInt16, policy: [UInt8], _ authorization: SharedSecret
    ) throws(TPMError) -> (number: UInt32, handle: ObjectHandle) {
        let none = ESYS_TR(ESYS_TR_NONE)
        let used = Set(try library.handles(from: NonvolatileIndex.numbers.lowerBound))
        guard let number = NonvolatileIndex.numbers.first(where: { !used.contains($0) }) else { throw .memoryFull }
        begin()
        var area = TPM2B_NV_PUBLIC()
        area.nvPublic.nvIndex = number
        area.nvPublic.nameAlg = TPMI_ALG_HASH(TPM2_ALG_SHA256)
        area.nvPublic.attributes = attributes
        area.nvPublic.dataSize = length
        area.nvPublic.authPolicy = try StructureBytes.make(TPM2B_DIGEST(), policy)
        let session = try session(.command)
        protect(authorization)
        return try withWiped(TPM2B_AUTH()) { (value) throws(TPMError) in
            try authorization.withUnsafeBytes { (bytes) throws(TPMError) in try StructureBytes.fill(&value, bytes) }
            do throws(TPMError) {
                let handle = try library.object { handle in
                    Esys_NV_DefineSpace(
                        context, ESYS_TR(ESYS_TR_RH_OWNER), session, none, none, &value, &area, &handle)
                }
                return (number, ObjectHandle(number: handle.number, isPersistent: true))
            } catch .wrongAuthorization {
                throw .ownerPassword
            } catch .refused(code: 0x14C) {  // TPM_RC_NV_DEFINED
                throw .indexExists(number)
            }
        }
    }

    /// Runs `body` with the handle of an index.
    ///
    /// - Parameter authorization: the index's authorization value; nil if `body` needs none.
    /// - Throws: ``TPMError/noIndex(_:)``, or ``TPMError/foreignIndex(_:)`` if its definition is
    ///   another one.
    func withIndex<Result>(
        _ index: NonvolatileIndex, _ authorization: SharedSecret? = nil,
        _ body: (ObjectHandle) throws(TPMError) -> Result
    ) throws(TPMError) -> Result {
        let handle = try self.handle(ofIndex: index.number)
        defer { library.flush(handle) }
        guard try name(ofIndex: handle) == index.name else { throw .foreignIndex(index.number) }
        guard let authorization else { return try body(handle) }
        protect(authorization)
        try library.setAuthorization(of: handle, authorization)
        defer { library.forgetAuthorization(of: handle, count: authorization.count) }
        return try body(handle)
    }

    /// - Throws: ``TPMError/noIndex(_:)``.
    func handle(ofIndex number: UInt32) throws(TPMError) -> ObjectHandle {
        let none = ESYS_TR(ESYS_TR_NONE)
        do throws(TPMError) {
            let found = try library.object { handle in
                Esys_TR_FromTPMPublic(context, number, none, none, none, &handle)
            }
            return ObjectHandle(number: found.number, isPersistent: true)
        } catch {
            // TPM_RC_HANDLE: there is none.
            guard error.isUnknownHandle else { throw error }
            throw .noIndex(number)
        }
    }

    /// The name of an index, read from the TPM in the session: an attacker between this process and
    /// the TPM cannot change it.
    func name(ofIndex handle: ObjectHandle) throws(TPMError) -> [UInt8] {
        let none = ESYS_TR(ESYS_TR_NONE)
        let session = try session(.response)
        var area: UnsafeMutablePointer<TPM2B_NV_PUBLIC>?
        var name: UnsafeMutablePointer<TPM2B_NAME>?
        defer {
            Esys_Free(area)
            Esys_Free(name)
        }
        try library.check(Esys_NV_ReadPublic(context, handle.number, session, none, none, &area, &name))
        guard let name else { throw .invalidResponse("it lacks a field") }
        return try StructureBytes.read(name.pointee)
    }

    func undefineIndex(_ handle: ObjectHandle) throws(TPMError) {
        let none = ESYS_TR(ESYS_TR_NONE)
        try library.check(
            Esys_NV_UndefineSpace(
                context, ESYS_TR(ESYS_TR_RH_OWNER), handle.number, ESYS_TR(ESYS_TR_PASSWORD), none, none))
    }
}

extension TrustedPlatformModule {
    /// Removes an index.
    ///
    /// - Throws: ``TPMError/noIndex(_:)`` if it does not exist, ``TPMError/foreignIndex(_:)`` if it
    ///   is another one.
    public func remove(_ index: NonvolatileIndex) throws(TPMError) {
        try run { (module) throws(TPMError) in
            let handle = try module.handle(ofIndex: index.number)
            guard try module.name(ofIndex: handle) == index.name else {
                module.library.flush(handle)
                throw .foreignIndex(index.number)
            }
            try module.undefineIndex(handle)
        }
    }
}
