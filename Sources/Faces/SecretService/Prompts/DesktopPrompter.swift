// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import LinuxSystem
internal import SecretMemory
internal import Synchronization
public import SystemBus

/// Asks with the prompter of GNOME (gcr): a program that has the name
/// `org.gnome.keyring.SystemPrompter`, or that the bus can start.
///
/// The typed text crosses the bus encrypted (``DesktopExchange``). Any program of the user can take the name, as it can
/// imitate the prompt.
public struct DesktopPrompter: Sendable {
    private let bus: BusConnection

    public init(_ bus: BusConnection) { self.bus = bus }

    func ask(_ question: SecretQuestion, cancellation: Cancellation) -> SecretAnswer {
        do throws(BusError) {
            guard try bus.isActivatable(Self.name) else { return Self.unavailable("no desktop prompts") }
            let conversation = try DesktopConversation(bus)
            defer { conversation.end() }
            return try conversation.ask(question, cancellation: cancellation)
        } catch {
            return Self.unavailable("the desktop's prompter failed: \(error)")
        }
    }

    fileprivate static func unavailable(_ reason: String) -> SecretAnswer {
        .unavailable(reason: reason, hint: "latchkey unlock")
    }

    fileprivate static let name: BusName = "org.gnome.keyring.SystemPrompter"
}

/// One prompt of the desktop's prompter. The prompter calls an object of this process.
private final class DesktopConversation: Sendable {
    private enum Event: Sendable {
        /// The prompter is ready, or the person has answered.
        case ready(reply: String, exchange: String, isChosen: Bool)
        case done
    }

    private let bus: BusConnection
    private let path: ObjectPath
    private let events: Events
    private let registration: BusRegistration

    private final class Events: Sendable {
        let waiting = SystemMutex<[Event]>([])
        let semaphore = DispatchSemaphore(value: 0)

        func add(_ event: Event) {
            waiting.withLock { $0.append(event) }
            semaphore.signal()
        }

        func next() -> Event? { waiting.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
    }

    init(_ bus: BusConnection) throws(BusError) {
        let number = Self.numbers.add(1, ordering: .relaxed).newValue
        let path = try ObjectPath(validating: "/org/gnome/keyring/Prompt/latchkey\(number)")
        let events = Events()
        let owner = SystemMutex<BusName?>(nil)
        registration = try bus.export(at: path) { call in
            // Only the prompter may answer; it has its name before it calls.
            let known = owner.withLock { $0 }
            let prompter = known ?? ((try? bus.owner(of: DesktopPrompter.name)) ?? nil)
            if known == nil { owner.withLock { $0 = prompter } }
            guard call.sender == prompter else { return call.fail(.accessDenied("only the prompter may answer")) }
            guard let event = Self.event(call) else {
                return call.fail(.unknownMethod("there is no method \(call.member) with these arguments"))
            }
            events.add(event)
            call.answer()
        }
        (self.bus, self.path, self.events) = (bus, path, events)
    }

    private static func event(_ call: BusMethodCall) -> Event? {
        if call.isCall(of: callbackInterface, "PromptDone"), call.types.isEmpty { return .done }
        guard call.isCall(of: callbackInterface, "PromptReady"), call.types == [.string, .properties, .string] else {
            return nil
        }
        let values = call.arguments.remaining
        guard case .string(let reply)? = values.first, case .string(let exchange)? = values.last else { return nil }
        return .ready(reply: reply, exchange: exchange, isChosen: values.contains(where: isChosen))
    }

    /// Whether the properties of the prompt say that its check box is set.
    private static func isChosen(_ properties: BusValue) -> Bool {
        guard case .dictionary(_, _, let entries) = properties else { return false }
        return entries.contains(BusValue.Entry(.string("choice-chosen"), .variant(.boolean(true))))
    }

    func ask(_ question: SecretQuestion, cancellation: Cancellation) throws(BusError) -> SecretAnswer {
        try bus.call(method("BeginPrompting"), [.objectPath(path)], timeout: .seconds(30))
        // Other prompts of the desktop come first.
        guard case .ready? = wait(cancellation) else { return cancellation.isCancelled ? .cancelled : .timedOut }
        guard let exchange = DesktopExchange() else { return DesktopPrompter.unavailable("no key could be made") }
        let arguments: [BusValue] = [
            .objectPath(path), .string(question.kind.desktopType), DesktopPromptText(question).properties.busValue,
            .string(exchange.text),
        ]
        try bus.call(method("PerformPrompt"), arguments, timeout: .seconds(30))
        guard case .ready(let reply, let received, let isChosen)? = wait(cancellation) else {
            return cancellation.isCancelled ? .cancelled : .timedOut
        }
        if case .consent(let subject) = question.kind {
            return reply == "yes" ? .allowed(isKept: isChosen && subject.canBeKept) : .cancelled
        }
        guard reply == "yes", let secret = exchange.secret(in: received), secret.count > 0 else { return .cancelled }
        return .typed(secret)
    }

    /// Tells the prompter that nothing more is asked.
    func end() {
        // It may have ended; then there is nothing to tell.
        _ = try? bus.call(method("StopPrompting"), [.objectPath(path)], timeout: .seconds(5))
    }

    /// Returns the next event; nil after the timeout or the cancellation.
    private func wait(_ cancellation: Cancellation) -> Event? {
        let deadline = BootClock.system.now() &+ Self.timeout
        while !cancellation.isCancelled, BootClock.system.now() < deadline, bus.isOpen {
            if let event = events.next() { return event }
            _ = events.semaphore.wait(timeout: .now() + .milliseconds(50))
        }
        return nil
    }

    private func method(_ member: String) -> BusMethod {
        BusMethod(
            DesktopPrompter.name, "/org/gnome/keyring/Prompter", "org.gnome.keyring.internal.Prompter", member)
    }

    private static let callbackInterface = "org.gnome.keyring.internal.Prompter.Callback"
    private static let numbers = Atomic<UInt64>(0)
    /// Ten minutes, in nanoseconds.
    private static let timeout: UInt64 = 600_000_000_000
}

extension SecretQuestion.Kind {
    /// The type of the prompt in the prompter's interface.
    fileprivate var desktopType: String {
        switch self {
        case .passcode, .newPasscode: "password"
        case .consent: "confirm"
        }
    }
}
