// SPDX-License-Identifier: Apache-2.0

internal import CSystemd
internal import LinuxSystem
internal import Synchronization

/// A connection to a message bus (D-Bus), for any number of threads.
///
/// Calls block the calling thread until the response arrives or the timeout ends. Signals, calls of
/// exported objects and the end of the connection reach their handlers in the order of their
/// arrival, on one thread of the connection that may block and may call methods itself. The first
/// calls of a peer are delivered when the bus has reported its user, so that later events of other
/// kinds may overtake them.
///
/// A connection that has ended does not connect again; its user makes a new one.
public final class BusConnection: Sendable {
    /// The name that the bus has given the connection.
    public let uniqueName: BusName
    private let loop: BusLoop

    /// The timeout of the D-Bus libraries.
    public static let defaultTimeout = Duration.seconds(25)

    /// Connects, and waits until the bus has accepted the connection.
    ///
    /// - Parameter onEnd: called once, after all other events, when the connection has ended:
    ///   because the bus has ended it, because handlers were too slow, by ``close()``, or because
    ///   this object and all its registrations were released.
    public init(
        to address: BusAddress, limits: BusLimits = BusLimits(), timeout: Duration = defaultTimeout,
        onEnd: @escaping @Sendable () -> Void = {}
    ) throws(BusError) {
        loop = try BusLoop(limits)
        let connected = Waiter<BusName>()
        try loop.start(address, connected: connected, onEnd: onEnd)
        guard let result = connected.wait(timeout) else {
            loop.stop()
            throw .timeout(method: "the greeting to \(address)")
        }
        uniqueName = try result.get()
    }

    /// Whether the connection has not ended.
    public var isOpen: Bool { loop.isOpen }

    /// Sends the waiting messages, and ends the connection.
    public func close() { loop.stop() }

    deinit { loop.stop() }

    /// Returns the user who listens at the address of the bus, as the kernel reports it: root for the bus of the
    /// machine. Statements of the bus about its connections are as trustworthy as this user.
    public func listeningUser() throws(BusError) -> UInt32 {
        let waiter = Waiter<UInt32>()
        let isSent = loop.perform { loop in
            waiter.resolve(Result { () throws(BusError) in try loop.listeningUser() })
        }
        guard isSent, let result = waiter.wait(Self.defaultTimeout) else { throw .disconnected }
        return try result.get()
    }

    /// Runs `work` on the thread of the handlers, after the events that have arrived. It does not
    /// run after the end of the connection.
    public func performInOrder(_ work: @escaping @Sendable () -> Void) {
        if !loop.enqueue(cost: 0, work) { loop.stop() }
    }

    // MARK: Calls

    /// Calls a method, and waits for the response.
    ///
    /// - Parameters:
    ///   - types: the types of the response; another response is an error.
    ///   - holdsSecrets: whether byte arrays in the response are secrets.
    /// - Throws: ``BusError/remote(_:)`` if the peer fails, ``BusError/timeout(method:)`` if no
    ///   response arrives.
    @discardableResult
    public func call(
        _ method: BusMethod, _ arguments: [BusValue] = [], returning types: [BusType] = [],
        holdsSecrets: Bool = false, timeout: Duration = defaultTimeout
    ) throws(BusError) -> BusFields {
        let waiter = Waiter<[BusValue]>()
        let identifier = loop.nextIdentifier()
        let isSent = loop.perform { loop in
            loop.start(identifier, method, arguments, types: types, holdsSecrets: holdsSecrets) { waiter.resolve($0) }
        }
        guard isSent else { throw .disconnected }
        guard let result = waiter.wait(timeout) else {
            loop.perform { $0.cancel(identifier) }
            throw .timeout(method: method.description)
        }
        return BusFields(try result.get())
    }

    /// Sends a signal from an object of this connection.
    ///
    /// - Parameter destination: the only receiver; nil for all connections that have a rule for it.
    public func emit(
        from path: ObjectPath, _ interface: String, _ member: String, _ arguments: [BusValue] = [],
        to destination: BusName? = nil
    ) throws(BusError) {
        let waiter = Waiter<Void>()
        let isSent = loop.perform { loop in
            waiter.resolve(
                Result { () throws(BusError) in
                    try loop.emit(path, interface, member, arguments, to: destination)
                })
        }
        guard isSent, let result = waiter.wait(Self.defaultTimeout) else { throw .disconnected }
        try result.get()
    }

    // MARK: Signals

    /// Receives signals until the returned object is released. A handler that runs at that time is
    /// not interrupted.
    ///
    /// Signals that arrive before this function returns may be received already.
    public func subscribe(
        to rule: SignalRule, timeout: Duration = defaultTimeout, handler: @escaping @Sendable (BusSignal) -> Void
    ) throws(BusError) -> BusRegistration {
        let isActive = Flag(true)
        let identifier = loop.nextIdentifier()
        let waiter = Waiter<Void>()
        let isSent = loop.perform { loop in
            let add = {
                loop.addMatch(identifier, rule) { [unowned loop] message in
                    loop.deliver(message, rule) { signal in if isActive.value { handler(signal) } }
                } installed: {
                    waiter.resolve($0)
                }
            }
            guard let sender = rule.sender, !sender.isUnique, sender != .bus else { return add() }
            loop.trackOwner(of: sender) { result in
                if case .failure = result { waiter.resolve(result) } else { add() }
            }
        }
        let registration = BusRegistration { [self] in
            isActive.value = false
            loop.perform { $0.removeMatch(identifier) }
        }
        guard isSent else { throw .disconnected }
        guard let result = waiter.wait(timeout) else { throw .timeout(method: "a match rule") }
        try result.get()
        return registration
    }

    // MARK: Objects

    /// Answers method calls on the objects at and below a path, until the returned object is
    /// released. A longer path has precedence.
    ///
    /// - Parameters:
    ///   - holdsSecrets: whether byte arrays in the arguments are secrets.
    ///   - blocks: whether the handler may take longer than a millisecond, or call methods of this connection. If not,
    ///     it may run on the thread of the connection, where no other call is received meanwhile.
    public func export(
        at path: ObjectPath, holdsSecrets: Bool = false, blocks: Bool = true,
        handler: @escaping @Sendable (BusMethodCall) -> Void
    ) throws(BusError) -> BusRegistration {
        let identifier = loop.nextIdentifier()
        let waiter = Waiter<Void>()
        let isSent = loop.perform { loop in
            waiter.resolve(
                Result { () throws(BusError) in
                    let export = ExportSlot(loop, holdsSecrets: holdsSecrets, blocks: blocks, handler: handler)
                    try export.install(at: path)
                    loop.exports[identifier] = export
                })
        }
        guard isSent, let result = waiter.wait(Self.defaultTimeout) else { throw .disconnected }
        try result.get()
        return BusRegistration { [self] in
            loop.perform { $0.exports.removeValue(forKey: identifier)?.end() }
        }
    }
}

/// A Boolean that several threads use.
final class Flag: Sendable {
    private let state: Atomic<Bool>

    init(_ value: Bool) { state = Atomic(value) }

    var value: Bool {
        get { state.load(ordering: .acquiring) }
        set { state.store(newValue, ordering: .releasing) }
    }
}

// MARK: Signals of the loop

extension BusLoop {
    func emit(
        _ path: ObjectPath, _ interface: String, _ member: String, _ arguments: [BusValue], to destination: BusName?
    ) throws(BusError) {
        guard let bus else { throw .disconnected }
        var message: OpaquePointer?
        let status = sd_bus_message_new_signal(bus, &message, path.text, interface, member)
        guard status >= 0, let message else { throw .cannotSend(status, "the signal \(member)") }
        defer { sd_bus_message_unref(message) }
        if let destination {
            let status = sd_bus_message_set_destination(message, destination.text)
            guard status >= 0 else { throw .cannotSend(status, "the signal \(member)") }
        }
        try MessageEncoder.append(arguments, to: message, limits: limits)
        let sent = sd_bus_send(bus, message, nil)
        guard sent >= 0 else { throw .cannotSend(sent, "the signal \(member)") }
    }

    /// Queues a signal for its handler, if it has the types of the rule.
    func deliver(_ message: OpaquePointer, _ rule: SignalRule, _ handler: @escaping @Sendable (BusSignal) -> Void) {
        // After a lost signal, those that were read with it are not delivered either.
        guard isOpen else { return }
        guard
            let content = try? MessageDecoder.content(
                of: message, types: rule.types, limits: limits, holdsSecrets: false),
            let signal = BusSignal(message, content.values)
        else { return }
        // A lost signal could be a lost lock: the user connects again, and asks for the state.
        if !enqueue(cost: content.cost, { handler(signal) }) { stop() }
    }
}

// MARK: Names of the loop

extension BusConnection {
    /// Releases a name without waiting for the bus.
    func release(_ name: BusName) {
        loop.perform { loop in
            loop.start(
                loop.nextIdentifier(), .bus("ReleaseName"), [.string(name.text)], types: nil, holdsSecrets: false
            ) { _ in }
        }
    }
}
