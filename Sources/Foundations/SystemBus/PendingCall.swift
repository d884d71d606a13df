// SPDX-License-Identifier: Apache-2.0

internal import CSystemd
internal import Glibc
internal import LinuxSystem

/// A method call that waits for its response. Used on the thread of the bus only.
final class PendingCall {
    let loop: BusLoop
    let identifier: UInt64
    let method: BusMethod
    private let types: [BusType]?
    private let holdsSecrets: Bool
    private let completion: (Result<[BusValue], BusError>) -> Void
    private var slot: OpaquePointer?

    init(
        _ loop: BusLoop, _ identifier: UInt64, _ method: BusMethod, types: [BusType]?, holdsSecrets: Bool,
        completion: @escaping (Result<[BusValue], BusError>) -> Void
    ) {
        self.loop = loop
        self.identifier = identifier
        self.method = method
        self.types = types
        self.holdsSecrets = holdsSecrets
        self.completion = completion
    }

    /// Sends the call. The waiting thread has the timeout, so libsystemd has none.
    func send(_ message: OpaquePointer) throws(BusError) {
        let status = sd_bus_call_async(
            loop.bus, &slot, message,
            { message, context, _ in
                guard let message, let context else { return 0 }
                // Retained by `calls` of the loop until the call ends.
                let call = Unmanaged<PendingCall>.fromOpaque(context).takeUnretainedValue()
                call.loop.calls[call.identifier] = nil
                call.end(call.result(of: message))
                return 1
            }, Unmanaged.passUnretained(self).toOpaque(), UInt64.max)
        guard status >= 0 else { throw .cannotSend(status, "a call of \(method)") }
    }

    private func result(of message: OpaquePointer) -> Result<[BusValue], BusError> {
        if let error = sd_bus_message_get_error(message), let name = error.pointee.name {
            let text = error.pointee.message.map { String(cString: $0) } ?? ""
            return .failure(.remote(BusFailure(received: String(cString: name), text)))
        }
        return Result { () throws(BusError) in
            try MessageDecoder.content(of: message, types: types, limits: loop.limits, holdsSecrets: holdsSecrets)
                .values
        }
    }

    /// Reports the result, and forgets the call.
    func end(_ result: Result<[BusValue], BusError>) {
        sd_bus_slot_unref(slot)
        slot = nil
        completion(result)
    }
}

extension BusError {
    /// The error of a message that libsystemd did not accept.
    static func cannotSend(_ status: Int32, _ what: String) -> BusError {
        switch -status {
        case EINVAL: .invalid("\(what): a name is not valid")
        case ENOTCONN, ECONNRESET, EPIPE: .disconnected
        case let code: .system(SystemError("send \(what)", code: code))
        }
    }
}

// MARK: Calls of the loop

extension BusLoop {
    /// Sends a method call; `completion` runs on the thread of the loop.
    func start(
        _ identifier: UInt64, _ method: BusMethod, _ arguments: [BusValue], types: [BusType]?, holdsSecrets: Bool,
        completion: @escaping (Result<[BusValue], BusError>) -> Void
    ) {
        do throws(BusError) {
            let call = PendingCall(
                self, identifier, method, types: types, holdsSecrets: holdsSecrets, completion: completion)
            let message = try message(method, arguments)
            defer { sd_bus_message_unref(message) }
            try call.send(message)
            calls[identifier] = call
        } catch {
            completion(.failure(error))
        }
    }

    /// Forgets a call, because its response is no longer expected.
    func cancel(_ identifier: UInt64) {
        calls.removeValue(forKey: identifier)?.end(.failure(.disconnected))
    }

    /// Returns a new message. The caller must release it.
    func message(_ method: BusMethod, _ arguments: [BusValue]) throws(BusError) -> OpaquePointer {
        guard let bus else { throw .disconnected }
        var message: OpaquePointer?
        let status = sd_bus_message_new_method_call(
            bus, &message, method.destination.text, method.path.text, method.interface, method.member)
        guard status >= 0, let message else { throw .cannotSend(status, "a call of \(method)") }
        do throws(BusError) {
            try MessageEncoder.append(arguments, to: message, limits: limits)
        } catch {
            sd_bus_message_unref(message)
            throw error
        }
        return message
    }
}
