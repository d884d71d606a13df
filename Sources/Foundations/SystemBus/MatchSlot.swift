// SPDX-License-Identifier: Apache-2.0

internal import CSystemd
internal import Glibc

/// A match rule of the bus. Used on the thread of the bus only.
final class MatchSlot {
    private let loop: BusLoop
    private let receive: (OpaquePointer) -> Void
    private var installed: ((Result<Void, BusError>) -> Void)?
    private var slot: OpaquePointer?

    /// - Parameters:
    ///   - receive: called with each signal that matches, from any sender.
    ///   - installed: called once, when the bus knows the rule or has refused it.
    init(
        _ loop: BusLoop, receive: @escaping (OpaquePointer) -> Void,
        installed: @escaping (Result<Void, BusError>) -> Void
    ) {
        self.loop = loop
        self.receive = receive
        self.installed = installed
    }

    func install(_ rule: String) throws(BusError) {
        guard let bus = loop.bus else { throw .disconnected }
        let status = sd_bus_add_match_async(
            bus, &slot, rule,
            { message, context, _ in
                guard let message, let context else { return 0 }
                // Retained by `matches` of the loop while the slot exists.
                Unmanaged<MatchSlot>.fromOpaque(context).takeUnretainedValue().receive(message)
                // Other rules may match as well.
                return 0
            },
            { message, context, _ in
                guard let message, let context else { return 0 }
                Unmanaged<MatchSlot>.fromOpaque(context).takeUnretainedValue().finishInstalling(message)
                return 1
            }, Unmanaged.passUnretained(self).toOpaque())
        guard status >= 0 else { throw .cannotSend(status, "a match rule") }
    }

    private func finishInstalling(_ message: OpaquePointer) {
        guard let error = sd_bus_message_get_error(message), let name = error.pointee.name else {
            return report(.success(()))
        }
        let text = error.pointee.message.map { String(cString: $0) } ?? ""
        report(.failure(.remote(BusFailure(received: String(cString: name), text))))
    }

    private func report(_ result: Result<Void, BusError>) {
        let installed = installed
        self.installed = nil
        installed?(result)
    }

    /// Removes the rule.
    func end() {
        sd_bus_slot_unref(slot)
        slot = nil
        report(.failure(.disconnected))
    }
}

// MARK: Rules of the loop

extension BusLoop {
    /// Adds a rule; `installed` runs on the thread of the loop.
    func addMatch(
        _ identifier: UInt64, _ rule: SignalRule, receive: @escaping (OpaquePointer) -> Void,
        installed: @escaping (Result<Void, BusError>) -> Void
    ) {
        let match = MatchSlot(
            self,
            receive: { [unowned self] message in
                if isGenuine(message, from: rule.sender) { receive(message) }
            }, installed: installed)
        do throws(BusError) {
            try match.install(try rule.text())
            matches[identifier] = match
        } catch {
            installed(.failure(error))
        }
    }

    func removeMatch(_ identifier: UInt64) { matches.removeValue(forKey: identifier)?.end() }

    /// Whether the sender of a signal is the expected one. libsystemd trusts the bus to deliver
    /// only signals that match; but a signal that a peer sends to this connection alone arrives
    /// without any rule, and then only its unique name distinguishes it.
    private func isGenuine(_ message: OpaquePointer, from expected: BusName?) -> Bool {
        guard let expected else { return true }
        guard let sender = BusName(senderOf: message) else { return false }
        if expected == .bus || expected.isUnique { return sender == expected }
        return owners[expected] == .some(.some(sender))
    }

    /// Keeps the owner of a name up to date; `tracked` runs on the thread of the loop.
    func trackOwner(of name: BusName, tracked: @escaping (Result<Void, BusError>) -> Void) {
        guard owners[name] == nil else { return tracked(.success(())) }
        addMatch(nextIdentifier(), .nameOwnerChanged(of: name)) { [unowned self] message in
            owners[name] = .some(newOwner(message))
        } installed: { [unowned self] result in
            guard case .success = result else { return tracked(result) }
            start(
                nextIdentifier(), .bus("GetNameOwner"), [.string(name.text)], types: [.string], holdsSecrets: false
            ) { [unowned self] result in
                owners[name] = .some(Self.owner(result))
                tracked(.success(()))
            }
        }
    }

    private func newOwner(_ message: OpaquePointer) -> BusName? {
        let content = try? MessageDecoder.content(
            of: message, types: SignalRule.nameOwnerTypes, limits: limits, holdsSecrets: false)
        guard case .string(let text)? = content?.values.last else { return nil }
        return try? BusName(validating: text)
    }

    private static func owner(_ result: Result<[BusValue], BusError>) -> BusName? {
        guard case .success(let values) = result, case .string(let text)? = values.first else { return nil }
        return try? BusName(validating: text)
    }
}

extension SignalRule {
    static let nameOwnerTypes: [BusType] = [.string, .string, .string]

    /// The changes of the owner of a name: name, old owner, new owner; empty for none.
    static func nameOwnerChanged(of name: BusName) -> SignalRule {
        SignalRule(
            from: .bus, "org.freedesktop.DBus", "NameOwnerChanged", firstArgument: name.text, types: nameOwnerTypes)
    }
}
