// SPDX-License-Identifier: Apache-2.0

internal import CLoadedLibraries
internal import CTSS2
internal import Glibc
internal import SecretMemory

/// A handle of ESYS: an object, an index or a session.
struct ObjectHandle {
    let number: ESYS_TR
    /// Whether it stays in the TPM: then it is only closed.
    var isPersistent = false
}

/// Calls functions of ESYS, and turns their codes into errors.
struct Library {
    private let interface: CommandInterface
    let context: OpaquePointer

    /// Opens the libraries of tpm2-tss. No earlier call needs them.
    static func load() throws(TPMError) {
        if let reason = latchkey_load_tss2() { throw .libraryMissing(String(cString: reason)) }
    }

    init(_ interface: CommandInterface, _ context: OpaquePointer) {
        self.interface = interface
        self.context = context
    }

    func check(_ code: TSS2_RC) throws(TPMError) {
        guard code != 0 else { return }
        throw interface.failure ?? TPMError(code: code)
    }

    /// Calls a function that returns a new handle.
    func object(_ function: (inout ESYS_TR) -> TSS2_RC) throws(TPMError) -> ObjectHandle {
        var number = ESYS_TR(ESYS_TR_NONE)
        try check(function(&number))
        return ObjectHandle(number: number)
    }

    /// Calls a function that returns an allocated structure, and frees it.
    func output<Structure>(
        _ function: (inout UnsafeMutablePointer<Structure>?) -> TSS2_RC
    ) throws(TPMError) -> Structure {
        var pointer: UnsafeMutablePointer<Structure>?
        defer { Esys_Free(pointer) }
        try check(function(&pointer))
        guard let pointer else { throw .invalidResponse("it lacks a field") }
        return pointer.pointee
    }

    /// Calls a function that returns an allocated secret, and wipes it.
    func secret<Structure>(
        _ function: (inout UnsafeMutablePointer<Structure>?) -> TSS2_RC
    ) throws(TPMError) -> SecretBytes {
        var pointer: UnsafeMutablePointer<Structure>?
        defer { Esys_Free(pointer) }
        try check(function(&pointer))
        guard let pointer else { throw .invalidResponse("it lacks a field") }
        return try StructureBytes.takeSecret(pointer)
    }

    /// Removes an object or a session from the TPM. A failure leaves nothing behind that matters:
    /// the connection ends soon, or the TPM was reset.
    func flush(_ handle: ObjectHandle) {
        guard !handle.isPersistent, Esys_FlushContext(context, handle.number) == 0 else {
            var number = handle.number
            Esys_TR_Close(context, &number)
            return
        }
    }

    /// Removes all objects and sessions of a software TPM. It serves one connection at a time, so they belong to
    /// programs that have ended without removing them.
    func flushAll() throws(TPMError) {
        for first in [CTSS2_FIRST_TRANSIENT, CTSS2_FIRST_SESSION] {
            for handle in try handles(from: first) { interface.flush(handle) }
        }
    }

    /// The handles of one kind that exist, in ascending order.
    ///
    /// - Parameter first: the lowest handle that is returned.
    func handles(from first: UInt32) throws(TPMError) -> [UInt32] {
        let none = ESYS_TR(ESYS_TR_NONE)
        var hasMore = TPMI_YES_NO()
        let found: TPMS_CAPABILITY_DATA = try output { data in
            Esys_GetCapability(
                context, none, none, none, TPM2_CAP(TPM2_CAP_HANDLES), first, CTSS2_MAX_HANDLES, &hasMore,
                &data)
        }
        guard found.capability == TPM2_CAP(TPM2_CAP_HANDLES) else {
            throw .invalidResponse("the TPM describes other properties than were requested")
        }
        var list = found.data.handles
        guard list.count <= CTSS2_MAX_HANDLES else {
            throw .invalidResponse("a list has \(list.count) elements")
        }
        let count = Int(list.count)
        return withUnsafeBytes(of: &list.handle) { Array($0.bindMemory(to: UInt32.self).prefix(count)) }
    }

    // MARK: Authorization

    func setAuthorization(of handle: ObjectHandle, _ value: SharedSecret) throws(TPMError) {
        try withWiped(TPM2B_AUTH()) { (structure) throws(TPMError) in
            try value.withUnsafeBytes { (bytes) throws(TPMError) in try StructureBytes.fill(&structure, bytes) }
            try check(Esys_TR_SetAuth(context, handle.number, &structure))
        }
    }

    /// Overwrites the library's copy of an authorization value.
    func forgetAuthorization(of handle: ObjectHandle, count: Int) {
        var zeros = TPM2B_AUTH()
        zeros.size = UInt16(clamping: count)
        _ = Esys_TR_SetAuth(context, handle.number, &zeros)
    }

    // MARK: Sessions

    /// Starts a TPM that has no firmware for that: a software TPM.
    func startUp() throws(TPMError) {
        let code = Esys_Startup(context, TPM2_SU(TPM2_SU_CLEAR))
        // TPM_RC_INITIALIZE: it is running.
        if code != 0x100 { try check(code) }
    }

    func startSession(
        saltedWith key: ObjectHandle, _ kind: TPM2_SE = TPM2_SE(TPM2_SE_HMAC)
    ) throws(TPMError) -> ObjectHandle {
        var symmetric = TPMT_SYM_DEF()
        symmetric.algorithm = TPM2_ALG_ID(TPM2_ALG_AES)
        symmetric.keyBits.aes = 128
        symmetric.mode.aes = TPM2_ALG_ID(TPM2_ALG_CFB)
        let none = ESYS_TR(ESYS_TR_NONE)
        return try object { handle in
            Esys_StartAuthSession(
                context, key.number, none, none, none, none, nil, kind, &symmetric,
                TPMI_ALG_HASH(TPM2_ALG_SHA256), &handle)
        }
    }
}

extension TrustedPlatformModule {
    /// Turns off the messages of tpm2-tss, because they can contain commands with secrets. A program calls it first: it
    /// changes the environment, and this must not happen beside other threads.
    public static func silenceLibrary() { setenv("TSS2_LOG", "all+NONE", 1) }

    static func pause() { usleep(1_000_000) }
}
