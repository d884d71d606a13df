// SPDX-License-Identifier: Apache-2.0

internal import CSystemd
internal import Glibc
internal import LinuxSystem

/// Exported objects: those at and below a path. Used on the thread of the bus only.
final class ExportSlot {
    private let loop: BusLoop
    private let holdsSecrets: Bool
    private let blocks: Bool
    private let handler: @Sendable (BusMethodCall) -> Void
    private var slot: OpaquePointer?

    init(
        _ loop: BusLoop, holdsSecrets: Bool, blocks: Bool, handler: @escaping @Sendable (BusMethodCall) -> Void
    ) {
        self.loop = loop
        (self.holdsSecrets, self.blocks) = (holdsSecrets, blocks)
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
        guard let sender = BusName(senderOf: message) else { return }
        guard let path = ObjectPath(of: message) else { return loop.send(.noObjectPath, for: message) }
        let caller = loop.peers.caller(sender)
        guard loop.unanswered.hasRoom(for: caller, loop.limits) else { return loop.send(.tooManyCalls, for: message) }
        do throws(BusError) {
            let content = try MessageDecoder.content(
                of: message, types: nil, limits: loop.limits, holdsSecrets: holdsSecrets)
            let header = try CallHeader(of: message, on: loop.bus)
            let identifier = loop.nextIdentifier()
            let isAdded = loop.unanswered.add(
                identifier, header, of: caller, cost: content.cost, loop.limits)
            guard isAdded else { return loop.send(.tooManyCalls, for: message) }
            let call = BusMethodCall(
                loop, identifier, sender: sender, path: path, message: message, arguments: content.values)
            loop.admit(
                ReceivedCall(
                    identifier: identifier, call: call, cost: content.cost, blocks: blocks, handler: handler))
        } catch {
            loop.send(error.failure, for: message)
        }
    }
}

extension BusError {
    /// The answer to a call that could not be decoded.
    fileprivate var failure: BusFailure {
        if case .limitExceeded = self { .limitsExceeded(description) } else { .invalidArguments(description) }
    }
}

extension BusFailure {
    fileprivate static let tooManyCalls = BusFailure.limitsExceeded("too many calls are not answered yet")
    fileprivate static let noObjectPath = BusFailure.limitsExceeded(
        "the path of an object has at most \(ObjectPath.maxLength) bytes")
}

// MARK: Admission

/// A method call that was decoded and is not delivered yet.
struct ReceivedCall {
    let identifier: UInt64
    let call: BusMethodCall
    /// The memory of the arguments, in bytes.
    let cost: Int
    /// Whether the handler may block, so that it does not run on the thread of the bus.
    let blocks: Bool
    let handler: @Sendable (BusMethodCall) -> Void
}

extension BusLoop {
    /// Delivers a call, as soon as the process of its sender is known.
    func admit(_ received: ReceivedCall) {
        let sender = received.call.sender
        guard !peers.isKnown(sender) else { return deliver(received) }
        guard peers.wait(received) else { return }
        start(
            nextIdentifier(), .bus("GetConnectionCredentials"), [.string(sender.text)],
            types: BusPeer.credentialTypes, holdsSecrets: false
        ) { [unowned self] result in
            switch result {
            case .success(let values):
                identified(sender, values.first.flatMap { [String: BusVariant].from($0) }.flatMap { BusPeer($0) })
            // A peer could repeat calls from connections that it ends at once, and use up the limits
            // of all users.
            case .failure(.remote(let failure)) where failure.name == BusFailure.nameHasNoOwner:
                for received in peers.forget(sender) { fail(received.identifier, .failed("the caller has ended")) }
            case .failure: identified(sender, nil)
            }
        }
    }

    /// Delivers the calls that have waited, within the limits of their user and their process.
    private func identified(_ sender: BusName, _ peer: BusPeer?) {
        forEach(peers.identify(sender, as: peer)) { received in
            if unanswered.move(received.identifier, to: peers.caller(sender), limits) {
                deliver(received)
            } else {
                fail(received.identifier, .tooManyCalls)
            }
        }
    }

    /// Delivers a call, unless its sender does not read its answers.
    private func deliver(_ received: ReceivedCall) {
        received.call.identify(as: peers.caller(received.call.sender))
        guard unread.mustWait(received.call.sender, limits) else { return enqueue(received) }
        if unread.wait(received) { askAboutUnread(of: received.call.sender) }
    }

    func enqueue(_ received: ReceivedCall) {
        // A handler that does not block is called here, but not before the events that wait.
        guard received.blocks || !hasNoEvents else { return received.handler(received.call) }
        let isQueued = enqueue(cost: received.cost) { received.handler(received.call) }
        if !isQueued { fail(received.identifier, .limitsExceeded("too many calls wait")) }
    }
}
