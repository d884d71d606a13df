// SPDX-License-Identifier: Apache-2.0

internal import CTSS2
internal import SecretMemory

/// An open connection to a TPM, with the storage key that all objects have as parent, and a session
/// salted with that key. One thread uses it.
final class OpenModule {
    private let interface: CommandInterface
    /// The context of ESYS.
    let context: OpaquePointer
    /// The storage key.
    let parent: ObjectHandle
    /// The name of the storage key: it differs in every TPM, and after a TPM was cleared.
    let parentName: [UInt8]
    private let session: ObjectHandle

    init(_ transport: any TPMTransport, until deadline: UInt64) throws(TPMError) {
        let connection = try transport.connect()
        try Library.load()
        let interface = CommandInterface(connection)
        interface.start(until: deadline)
        var context: OpaquePointer?
        let status = Esys_Initialize(&context, interface.handle, nil)
        guard status == 0, let context else { throw interface.failure ?? TPMError(code: status) }
        self.interface = interface
        self.context = context
        do throws(TPMError) {
            let library = Library(interface, context)
            if transport.address.isSoftware {
                try library.startUp()
                try library.flushAll()
            }
            (parent, parentName, session) = try Self.open(library)
        } catch {
            var freed: OpaquePointer? = context
            Esys_Finalize(&freed)
            throw error
        }
    }

    private static func open(
        _ library: Library
    ) throws(TPMError) -> (parent: ObjectHandle, name: [UInt8], session: ObjectHandle) {
        let (parent, name) = try StorageKey.open(library)
        do throws(TPMError) {
            return (parent, name, try library.startSession(saltedWith: parent))
        } catch {
            library.flush(parent)
            throw error
        }
    }

    deinit {
        FreedMemory.beginOverwriting()
        defer { FreedMemory.endOverwriting() }
        if interface.failure == nil {
            library.flush(session)
            library.flush(parent)
        }
        var freed: OpaquePointer? = context
        Esys_Finalize(&freed)
    }

    /// Whether the connection has not failed.
    var isUsable: Bool { interface.failure == nil }

    /// Starts an operation.
    func start(until deadline: UInt64) {
        hasBegun = false
        interface.start(until: deadline)
    }

    /// Whether the operation must not be repeated if a response was lost.
    private(set) var hasBegun = false

    /// An operation calls this before a command that must not be sent twice.
    func begin() { hasBegun = true }

    var library: Library { Library(interface, context) }

    /// The session, for a command with or without secrets in its first parameter and in the first
    /// of its response.
    func session(_ secrets: SessionSecrets) throws(TPMError) -> ESYS_TR {
        try library.check(
            Esys_TRSess_SetAttributes(
                context, session.number, secrets.flags | TPMA_SESSION(TPMA_SESSION_CONTINUESESSION), 0xFF))
        return session.number
    }

    // MARK: Secrets

    /// The secrets of the present operation. The library has copies of them.
    private var secrets: [SharedSecret] = []

    /// An operation calls this for each secret that it gives to the library, or gets from it.
    func protect(_ secret: SharedSecret) { secrets.append(secret) }

    /// Overwrites the copies that the library keeps: the parameters of a command, for a repetition,
    /// and the command and the response themselves.
    func wipeCopies() {
        guard !secrets.isEmpty else { return }
        var system: OpaquePointer?
        _ = Esys_GetSysContext(context, &system)
        for secret in secrets {
            secret.withUnsafeBytes { bytes in
                CTSS2_wipe(UnsafeMutableRawPointer(context), bytes.baseAddress, bytes.count)
                if let system { CTSS2_wipe(UnsafeMutableRawPointer(system), bytes.baseAddress, bytes.count) }
            }
        }
        secrets = []
    }

    // MARK: Objects

    /// Loads an object, and removes it from the TPM afterwards.
    ///
    /// - Parameter authorization: the object's authorization value; nil if its policy is used.
    func withLoaded<Result: ~Copyable>(
        _ object: TPMObject, authorization: SharedSecret?, _ body: (ESYS_TR) throws(TPMError) -> Result
    ) throws(TPMError) -> Result {
        guard object.parentName == parentName else { throw .foreign }
        var publicArea = try object.publicStructure()
        var privateArea = try object.privateStructure()
        // Nothing here is secret, and each command that uses the object authenticates its name. So the session is not
        // needed; it would take time.
        let loaded = try library.object { handle in
            Esys_Load(
                context, parent.number, ESYS_TR(ESYS_TR_PASSWORD), ESYS_TR(ESYS_TR_NONE), ESYS_TR(ESYS_TR_NONE),
                &privateArea,
                &publicArea, &handle)
        }
        defer { library.flush(loaded) }
        guard let authorization else { return try body(loaded.number) }
        protect(authorization)
        try library.setAuthorization(of: loaded, authorization)
        defer { library.forgetAuthorization(of: loaded, count: authorization.count) }
        return try body(loaded.number)
    }
}

/// The parameters that a session encrypts.
enum SessionSecrets {
    case none, command, response, both
    /// None; for a command without authorization. Its response is authenticated nevertheless.
    case audit

    var flags: TPMA_SESSION {
        switch self {
        case .none: 0
        case .command: TPMA_SESSION(TPMA_SESSION_DECRYPT)
        case .response: TPMA_SESSION(TPMA_SESSION_ENCRYPT)
        case .audit: TPMA_SESSION(TPMA_SESSION_AUDIT)
        case .both: TPMA_SESSION(TPMA_SESSION_DECRYPT) | TPMA_SESSION(TPMA_SESSION_ENCRYPT)
        }
    }
}
