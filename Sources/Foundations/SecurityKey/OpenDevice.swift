// SPDX-License-Identifier: Apache-2.0

internal import CFido2
internal import CLoadedLibraries

/// An open connection to a security key, closed when the object is released. One thread uses it.
///
/// libfido2 is used without `fido_init`, because that reads the environment and can write messages to standard error.
final class OpenDevice {
    private let pointer: OpaquePointer
    private let connection: GuardedConnection
    private let cancellation: SecurityKeyCancellation?

    init(_ key: SecurityKey, cancellation: SecurityKeyCancellation?) throws(SecurityKeyError) {
        if cancellation?.isRequested == true { throw .cancelled }
        try Self.requireLibrary()
        let connection = GuardedConnection(try key.transport.connect())
        guard let pointer = fido_dev_new() else { throw .outOfMemory }
        self.connection = connection
        self.pointer = pointer
        self.cancellation = cancellation
        try run(timeout: SecurityKey.answerTimeout, late: .notResponding, isCancellable: false) {
            TransportFunctions.open($0, over: connection)
        }
        // libfido2 uses U2F if the device does not describe itself as CTAP 2 requires.
        guard fido_dev_is_fido2(pointer) else {
            throw connection.failure.map { Self.error($0, late: .notResponding) } ?? .notFIDO2
        }
    }

    /// Opens libfido2. No earlier call needs it.
    static func requireLibrary() throws(SecurityKeyError) {
        if let reason = latchkey_load_fido2() { throw .libraryMissing(String(cString: reason)) }
    }

    deinit {
        fido_dev_close(pointer)
        var freed: OpaquePointer? = pointer
        fido_dev_free(&freed)
    }

    var hasPIN: Bool { fido_dev_has_pin(pointer) }

    /// How many wrong PINs the device still accepts; nil if it does not say.
    var retries: Int? {
        var count: Int32 = 0
        do throws(SecurityKeyError) {
            try query { fido_dev_get_retry_count($0, &count) }
            return Int(count)
        } catch {
            return nil
        }
    }

    // MARK: Functions of libfido2

    /// Calls a function that is answered without the user.
    func query(_ function: (OpaquePointer) -> Int32) throws(SecurityKeyError) {
        try run(timeout: SecurityKey.answerTimeout, late: .notResponding, function)
    }

    /// Calls a function that waits for the user, with the PIN if there is one.
    func ask(
        pin: SecurityKeyPIN?, timeout: Duration, _ function: (OpaquePointer, UnsafePointer<CChar>?) -> Int32
    ) throws(SecurityKeyError) {
        do {
            try run(timeout: timeout, late: .noTouch) { device in
                guard let pin else { return function(device, nil) }
                // EXPOSE: libfido2 takes the PIN as a C string. It copies it to memory of its own, and wipes this
                // memory.
                return pin.withCString { function(device, $0) }
            }
        } catch .wrongPIN {
            throw .wrongPIN(retries: retries)
        }
    }

    /// Calls a function that returns a status.
    ///
    /// - Parameters:
    ///   - timeout: how long the function may take.
    ///   - late: the error of a function that has taken longer.
    ///   - isCancellable: whether the device is open, so that a cancellation can be sent to it.
    private func run(
        timeout: Duration, late: SecurityKeyError, isCancellable: Bool = true, _ function: (OpaquePointer) -> Int32
    ) throws(SecurityKeyError) {
        connection.start(timeout: timeout)
        let status: Int32? =
            if isCancellable, let cancellation {
                cancellation.run(on: pointer, connection.deadline) { function(pointer) }
            } else {
                function(pointer)
            }
        guard let status, cancellation?.isRequested != true else { throw .cancelled }
        guard status != FIDO_OK else { return }
        guard let failure = connection.failure else { throw SecurityKeyError(status: status) }
        // After the timeout, the device still waits for the user, and shows it.
        if isCancellable, case .late = failure { fido_dev_cancel(pointer) }
        throw Self.error(failure, late: late)
    }

    private static func error(_ failure: GuardedConnection.Failure, late: SecurityKeyError) -> SecurityKeyError {
        switch failure {
        case .late: late
        case .rejected(let reason): .invalidAnswer(reason)
        }
    }
}
