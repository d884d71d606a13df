// SPDX-License-Identifier: Apache-2.0

internal import CTSS2
internal import LinuxSystem

/// The functions that ESYS calls to use a connection (TCTI). It remembers why the connection failed, because ESYS knows
/// only a number for that.
final class CommandInterface {
    private let connection: any TPMConnection
    private let table: UnsafeMutablePointer<CTSS2Interface>
    private var deadline: UInt64 = 0
    /// The failure of the connection. After it, the connection cannot be used.
    private(set) var failure: TPMError?

    init(_ connection: any TPMConnection) {
        self.connection = connection
        table = .allocate(capacity: 1)
        var interface = CTSS2Interface()
        interface.functions.magic = 0x4C41_5443_484B_4559
        interface.functions.version = 1
        interface.functions.transmit = { CommandInterface.transmit($0, $1, $2) }
        interface.functions.receive = { handle, size, buffer, _ in CommandInterface.receive(handle, size, buffer) }
        interface.functions.finalize = { _ in }
        interface.functions.cancel = { _ in CTSS2_TCTI_NOT_IMPLEMENTED }
        interface.functions.getPollHandles = { _, _, _ in CTSS2_TCTI_NOT_IMPLEMENTED }
        interface.functions.setLocality = { _, _ in CTSS2_TCTI_NOT_IMPLEMENTED }
        table.initialize(to: interface)
        table.pointee.connection = Unmanaged.passUnretained(self).toOpaque()
    }

    deinit {
        table.deinitialize(count: 1)
        table.deallocate()
    }

    /// The handle for ESYS. It must not be used after this object is released.
    var handle: OpaquePointer { OpaquePointer(table) }

    /// Starts the time of one operation. An operation can send more than one command.
    func start(until deadline: UInt64) { self.deadline = deadline }

    /// Removes an object or a session that ESYS does not know. That it is gone already is no error.
    func flush(_ handle: UInt32) {
        // TPM2_FlushContext, without sessions: 14 bytes.
        let command = [0x80, 0x01, 0, 0, 0, 14, 0, 0, 0x01, 0x65] + handle.bigEndianBytes
        _ = run { () throws(TPMError) in
            var failure: TPMError?
            command.withUnsafeBytes { bytes in
                do throws(TPMError) {
                    try connection.send(bytes, until: deadline)
                } catch {
                    failure = error
                }
            }
            if let failure { throw failure }
            _ = try ResponseFrame(try connection.receive(until: deadline))
        }
    }

    // MARK: Functions of the table

    private static func object(of handle: OpaquePointer?) -> CommandInterface? {
        guard let handle, let connection = UnsafePointer<CTSS2Interface>(handle).pointee.connection else { return nil }
        return Unmanaged<CommandInterface>.fromOpaque(connection).takeUnretainedValue()
    }

    private static func transmit(
        _ handle: OpaquePointer?, _ count: Int, _ command: UnsafePointer<UInt8>?
    ) -> TSS2_RC {
        guard let object = object(of: handle), let command else { return CTSS2_TCTI_BAD_REFERENCE }
        return object.run { () throws(TPMError) in
            try object.connection.send(UnsafeRawBufferPointer(start: command, count: count), until: object.deadline)
        }
    }

    /// ESYS asks for the length first, with a null buffer, and passes one of
    /// ``ResponseFrame/maxLength`` bytes later.
    private static func receive(
        _ handle: OpaquePointer?, _ size: UnsafeMutablePointer<Int>?, _ buffer: UnsafeMutablePointer<UInt8>?
    ) -> TSS2_RC {
        guard let object = object(of: handle), let size else { return CTSS2_TCTI_BAD_REFERENCE }
        guard let buffer else {
            size.pointee = ResponseFrame.maxLength
            return 0
        }
        return object.run { () throws(TPMError) in
            let frame = try ResponseFrame(try object.connection.receive(until: object.deadline))
            guard frame.bytes.count <= size.pointee else {
                throw .invalidResponse("it has \(frame.bytes.count) bytes, expected at most \(size.pointee)")
            }
            UnsafeMutableRawBufferPointer(start: buffer, count: frame.bytes.count).copyBytes(from: frame.bytes)
            size.pointee = frame.bytes.count
        }
    }

    private func run(_ body: () throws(TPMError) -> Void) -> TSS2_RC {
        guard failure == nil else { return CTSS2_TCTI_IO_ERROR }
        do throws(TPMError) {
            try body()
            return 0
        } catch {
            failure = error
            return CTSS2_TCTI_IO_ERROR
        }
    }
}
