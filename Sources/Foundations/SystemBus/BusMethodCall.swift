// SPDX-License-Identifier: Apache-2.0

internal import CSystemd
internal import LinuxSystem
internal import Synchronization

/// A method call of a peer on an exported object. Any thread answers it, once.
///
/// A call that is released without an answer fails with `org.freedesktop.DBus.Error.Failed`.
public final class BusMethodCall: Sendable {
    /// The unique name of the caller.
    public let sender: BusName
    public let path: ObjectPath
    /// nil if the caller named none.
    public let interface: String?
    public let member: String
    public let arguments: BusFields
    /// The types of the arguments.
    public let types: [BusType]
    private let loop: BusLoop
    private let identifier: UInt64
    private let isAnswered = Atomic(false)
    private let peer = SystemMutex<BusPeer?>(nil)

    init(
        _ loop: BusLoop, _ identifier: UInt64, sender: BusName, path: ObjectPath, message: OpaquePointer,
        arguments: [BusValue]
    ) {
        self.loop = loop
        self.identifier = identifier
        self.sender = sender
        self.path = path
        interface = sd_bus_message_get_interface(message).map { String(cString: $0) }
        member = sd_bus_message_get_member(message).map { String(cString: $0) } ?? ""
        self.arguments = BusFields(arguments)
        types = arguments.map(\.type)
    }

    /// The sender, and the process at its other end.
    public var caller: BusCaller { BusCaller(sender, peer.withLock { $0 }) }

    /// Completes ``caller``, before the call is delivered.
    func identify(as caller: BusCaller) { peer.withLock { $0 = caller.peer } }

    /// Whether this is the thread of the connection, and nothing else waits for it now: then an answer that takes less
    /// than a millisecond delays no other.
    public var isAlone: Bool { loop.isCurrentThread && loop.isIdle }

    /// Whether the caller named this method, or named no interface.
    public func isCall(of interface: String, _ member: String) -> Bool {
        self.member == member && (self.interface == nil || self.interface == interface)
    }

    /// Answers with values. Values that cannot be sent become an error.
    public func answer(_ values: [BusValue] = []) { finish { loop, identifier in loop.answer(identifier, values) } }

    /// Answers with an error.
    public func fail(_ failure: BusFailure) { finish { loop, identifier in loop.fail(identifier, failure) } }

    /// Answers with the result of `body`, or with the error that it throws. A ``BusError`` is
    /// reported as arguments that are not valid.
    public func answer(_ body: () throws -> [BusValue]) {
        do {
            answer(try body())
        } catch let failure as BusFailure {
            fail(failure)
        } catch let error as BusError {
            fail(.invalidArguments(error.description))
        } catch {
            fail(.failed("\(error)"))
        }
    }

    private func finish(_ answer: @escaping @Sendable (BusLoop, UInt64) -> Void) {
        guard !isAnswered.exchange(true, ordering: .relaxed) else { return }
        // Without waking the thread that this is.
        guard !loop.isCurrentThread else { return answer(loop, identifier) }
        loop.perform { [identifier] loop in answer(loop, identifier) }
    }

    deinit {
        guard !isAnswered.load(ordering: .relaxed) else { return }
        loop.perform { [identifier] loop in loop.fail(identifier, .failed("the method was not answered")) }
    }
}

/// A method call of `org.freedesktop.DBus.Properties`.
public enum PropertyRequest: Sendable, Equatable {
    case get(interface: String, name: String)
    case set(interface: String, name: String, BusValue)
    case getAll(interface: String)
}

extension BusMethodCall {
    /// The name of the interface for properties.
    public static let propertiesInterface = "org.freedesktop.DBus.Properties"

    /// The request for properties that the call is; nil for other methods and for arguments of
    /// other types.
    public var propertyRequest: PropertyRequest? {
        guard interface == nil || interface == Self.propertiesInterface else { return nil }
        var fields = arguments
        switch (member, types) {
        case ("Get", [.string, .string]):
            guard let interface = try? fields.next(String.self), let name = try? fields.next(String.self) else {
                return nil
            }
            return .get(interface: interface, name: name)
        case ("Set", [.string, .string, .variant]):
            guard let interface = try? fields.next(String.self), let name = try? fields.next(String.self),
                let value = try? fields.next(BusVariant.self)
            else { return nil }
            return .set(interface: interface, name: name, value.content)
        case ("GetAll", [.string]): return (try? fields.next(String.self)).map { .getAll(interface: $0) }
        default: return nil
        }
    }
}
