// SPDX-License-Identifier: Apache-2.0

internal import CSystemd
internal import Glibc

/// Exported objects: those at and below a path. Used on the thread of the bus only.
final class ExportSlot {
    private let loop: BusLoop
    private let holdsSecrets: Bool
    private let handler: @Sendable (BusMethodCall) -> Void
    private var slot: OpaquePointer?

    init(_ loop: BusLoop, holdsSecrets: Bool, handler: @escaping @Sendable (BusMethodCall) -> Void) {
        self.loop = loop
        self.holdsSecrets = holdsSecrets
        self.handler = handler
    }

    func install(at path: ObjectPath) throws(BusError) {
        guard let bus = loop.bus else { throw .disconnected }
        let status = sd_bus_add_fallback(
            bus, &slot, path.text,
            { message, context, _ in
                guard let message, let context else { return 0 }
                // Retained by `exports` of the loop while the slot exists.
                Unmanaged<ExportSlot>.fromOpaque(context).takeUnretainedValue().receive(message)
                return 1
            }, Unmanaged.passUnretained(self).toOpaque())
        guard status >= 0 else { throw .cannotSend(status, "the object \(path)") }
    }

    func end() {
        sd_bus_slot_unref(slot)
        slot = nil
    }

    private func receive(_ message: OpaquePointer) {
        guard let sender = BusName(senderOf: message), let path = ObjectPath(of: message) else { return }
        let identifier = loop.nextIdentifier()
        guard loop.unanswered.add(identifier, message, from: sender, limits: loop.limits) else {
            return BusLoop.send(.limitsExceeded("too many calls are not answered yet"), for: message)
        }
        let content: MessageDecoder.Content
        do throws(BusError) {
            content = try MessageDecoder.content(
                of: message, types: nil, limits: loop.limits, holdsSecrets: holdsSecrets)
        } catch {
            return loop.fail(identifier, error.failure)
        }
        let call = BusMethodCall(
            loop, identifier, sender: sender, path: path, message: message, arguments: content.values)
        guard loop.queue.add(cost: content.cost, { [handler] in handler(call) }) else {
            return call.fail(.limitsExceeded("too many calls wait"))
        }
    }
}

extension BusError {
    /// The answer to a call that could not be decoded.
    fileprivate var failure: BusFailure {
        if case .limitExceeded = self { .limitsExceeded(description) } else { .invalidArguments(description) }
    }
}

// MARK: Answers

/// The calls that are not answered yet, with their messages. Used on the thread of the bus only.
struct UnansweredCalls {
    private var messages: [UInt64: (message: OpaquePointer, sender: BusName)] = [:]
    private var counts: [BusName: Int] = [:]

    /// Retains the message.
    ///
    /// - Returns: false if too many calls are not answered.
    mutating func add(_ identifier: UInt64, _ message: OpaquePointer, from sender: BusName, limits: BusLimits) -> Bool {
        let count = counts[sender, default: 0]
        guard messages.count < limits.maxUnansweredCalls, count < limits.maxUnansweredCallsPerPeer else { return false }
        messages[identifier] = (sd_bus_message_ref(message), sender)
        counts[sender] = count + 1
        return true
    }

    /// Returns the message, which the caller must release; nil if the call was answered.
    mutating func take(_ identifier: UInt64) -> OpaquePointer? {
        guard let (message, sender) = messages.removeValue(forKey: identifier) else { return nil }
        let count = counts[sender, default: 1] - 1
        counts[sender] = count > 0 ? count : nil
        return message
    }

    mutating func removeAll() {
        for entry in messages.values { sd_bus_message_unref(entry.message) }
        (messages, counts) = ([:], [:])
    }
}

extension BusLoop {
    func answer(_ identifier: UInt64, _ values: [BusValue]) {
        guard let call = unanswered.take(identifier) else { return }
        defer { sd_bus_message_unref(call) }
        guard sd_bus_message_get_expect_reply(call) > 0 else { return }
        do throws(BusError) {
            try reply(to: call, values)
        } catch {
            Self.send(.failed(error.description), for: call)
        }
    }

    func fail(_ identifier: UInt64, _ failure: BusFailure) {
        guard let call = unanswered.take(identifier) else { return }
        defer { sd_bus_message_unref(call) }
        Self.send(failure, for: call)
    }

    private func reply(to call: OpaquePointer, _ values: [BusValue]) throws(BusError) {
        var message: OpaquePointer?
        let status = sd_bus_message_new_method_return(call, &message)
        guard status >= 0, let message else { throw .cannotSend(status, "an answer") }
        defer { sd_bus_message_unref(message) }
        try MessageEncoder.append(values, to: message, limits: limits)
        let sent = sd_bus_send(nil, message, nil)
        guard sent >= 0 else { throw .cannotSend(sent, "an answer") }
    }

    /// Answers a call with an error. If that fails, the caller's timeout ends its call.
    static func send(_ failure: BusFailure, for call: OpaquePointer) {
        guard sd_bus_message_get_expect_reply(call) > 0 else { return }
        var error = sd_bus_error()
        defer { sd_bus_error_free(&error) }
        var message: OpaquePointer?
        // A name that is not valid is replaced, so that the caller has an answer.
        if sd_bus_error_set(&error, failure.name, failure.message) == -ENOMEM
            || sd_bus_message_new_method_error(call, &message, &error) < 0
        {
            return
        }
        sd_bus_send(nil, message, nil)
        sd_bus_message_unref(message)
    }
}
