// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// The process at the other end of a connection, as the kernel reported it to the bus when the
/// connection was made.
public struct BusPeer: Hashable, Sendable {
    public let user: UInt32
    /// nil if the bus does not know it, for example in another process namespace.
    public let process: Int32?

    public init(user: UInt32, process: Int32?) { (self.user, self.process) = (user, process) }

    /// Reads the response of the bus to `GetConnectionCredentials`; nil without a user.
    init?(_ credentials: [String: BusVariant]) {
        guard let user = credentials["UnixUserID"]?.content(as: UInt32.self) else { return nil }
        self.user = user
        process = credentials["ProcessID"]?.content(as: UInt32.self).flatMap { Int32(exactly: $0) }
    }

    /// The types of that answer.
    static let credentialTypes: [BusType] = [.dictionary(key: .string, value: .variant)]
}

/// The program at the other end of a connection, for words: at most a claim.
public struct BusProgram: Hashable, Sendable, CustomStringConvertible {
    /// nil if it is not known, for example in another process namespace.
    public let process: Int32?
    /// The path of the file that it executes, or the program that its arguments name; nil if neither is known.
    public let executable: String?

    public init(process: Int32?, executable: String?) { (self.process, self.executable) = (process, executable) }

    /// The name of the file, without its directory.
    public var name: String? { executable?.split(separator: "/").last.map(String.init) }

    public var description: String {
        "\(executable ?? "a program of unknown name")\(process.map { " (process \($0))" } ?? "")"
    }
}

/// A connection that calls, and the process at its other end.
public struct BusCaller: Hashable, Sendable {
    public let connection: BusName
    /// nil if the bus does not report it.
    public let peer: BusPeer?

    public init(_ connection: BusName, _ peer: BusPeer?) { (self.connection, self.peer) = (connection, peer) }

    /// The account that the connection uses: the account of its process, as far as the bus reports it, so that a
    /// program gains nothing by further connections.
    public var account: CallAccount {
        guard let peer else { return .connection(connection) }
        return peer.process == nil ? .user(peer.user) : .process(peer)
    }
}

/// The holder of a share of a limit.
public enum CallAccount: Hashable, Sendable {
    /// All connections of a user.
    case user(UInt32)
    /// All connections of a process.
    case process(BusPeer)
    /// One connection, if the bus has not reported more about it.
    case connection(BusName)
}

/// Names on the bus, and the connections behind them.
extension BusConnection {
    /// Requests a name. It is released when the returned object is released.
    ///
    /// - Parameters:
    ///   - replacing: whether the name is taken from an owner that allows it.
    ///   - allowsReplacement: whether another connection may take the name.
    ///   - onLost: called when another connection has taken the name.
    /// - Throws: ``BusError/nameTaken(_:)`` if another connection owns the name and keeps it.
    public func own(
        _ name: BusName, replacing: Bool = false, allowsReplacement: Bool = false,
        onLost: @escaping @Sendable () -> Void = {}
    ) throws(BusError) -> BusRegistration {
        let rule = SignalRule(
            from: .bus, "org.freedesktop.DBus", "NameLost", firstArgument: name.text, types: [.string])
        let subscription = try subscribe(to: rule) { _ in onLost() }
        let flags: UInt32 = (allowsReplacement ? 1 : 0) | (replacing ? 2 : 0) | 4
        var response = try call(
            .bus("RequestName"), [.string(name.text), .uint32(flags)], returning: [.uint32])
        // DBUS_REQUEST_NAME_REPLY_PRIMARY_OWNER and _ALREADY_OWNER.
        guard [1, 4].contains(try response.next(UInt32.self)) else { throw .nameTaken(name) }
        return BusRegistration { [self] in
            withExtendedLifetime(subscription) { release(name) }
        }
    }

    /// Returns the unique name of the connection that owns a name; nil if there is none.
    public func owner(of name: BusName) throws(BusError) -> BusName? {
        do throws(BusError) {
            var response = try call(.bus("GetNameOwner"), [.string(name.text)], returning: [.string])
            return try BusName(validating: try response.next(String.self))
        } catch .remote(let failure) where failure.name == BusFailure.nameHasNoOwner {
            return nil
        }
    }

    /// Whether a program has the name, or the bus can start one that requests it.
    public func isActivatable(_ name: BusName) throws(BusError) -> Bool {
        if try owner(of: name) != nil { return true }
        var response = try call(.bus("ListActivatableNames"), returning: [.array(.string)])
        return try response.next([String].self).contains(name.text)
    }

    /// Calls `handler` with the unique name of every connection that ends.
    public func observeEnds(handler: @escaping @Sendable (BusName) -> Void) throws(BusError) -> BusRegistration {
        let rule = SignalRule(
            from: .bus, "org.freedesktop.DBus", "NameOwnerChanged", types: SignalRule.nameOwnerTypes)
        return try subscribe(to: rule) { signal in
            var content = signal.content
            guard let text = try? content.next(String.self), (try? content.next(String.self)) != nil,
                (try? content.next(String.self)) == "", let name = try? BusName(validating: text), name.isUnique
            else { return }
            handler(name)
        }
    }

    /// Calls `handler` when the owner of a name changes: with its unique name, or nil for none.
    public func observeOwner(
        of name: BusName, handler: @escaping @Sendable (BusName?) -> Void
    ) throws(BusError) -> BusRegistration {
        try subscribe(to: .nameOwnerChanged(of: name)) { signal in
            guard case .string(let owner)? = signal.content.remaining.last else { return }
            handler(try? BusName(validating: owner))
        }
    }

    /// Returns the process at the other end of a connection.
    ///
    /// A unique name never gets another connection, so the result may be kept as long as the
    /// connection exists; the process may have ended since.
    ///
    /// - Throws: ``BusError/remote(_:)`` if no connection has the name.
    public func peer(_ name: BusName) throws(BusError) -> BusPeer {
        var response = try call(
            .bus("GetConnectionCredentials"), [.string(name.text)], returning: BusPeer.credentialTypes)
        guard let peer = BusPeer(try response.next([String: BusVariant].self)) else {
            throw .unexpected(expected: "the user of \(name)", found: "credentials without it")
        }
        return peer
    }

    /// Returns the program at the other end of a connection.
    public func program(_ name: BusName) -> BusProgram {
        let process = (try? peer(name))?.process
        return BusProgram(
            process: process,
            executable: process.flatMap { number in
                let directory = ProcessDirectory(number)
                return directory.executable ?? directory.firstArgument
            })
    }

    // MARK: Properties

    /// Returns a property of an object.
    public func property<Value: BusRepresentable>(
        _ name: String, of interface: String, at path: ObjectPath, _ destination: BusName,
        as type: Value.Type = Value.self, timeout: Duration = defaultTimeout
    ) throws(BusError) -> Value {
        let method = BusMethod(destination, path, BusMethodCall.propertiesInterface, "Get")
        var response = try call(
            method, [.string(interface), .string(name)], returning: [.variant], timeout: timeout)
        let variant = try response.next(BusVariant.self)
        guard let value = variant.content(as: Value.self) else {
            throw .unexpected(expected: "\(name) of '\(Value.busType)'", found: "'\(variant.content.type)'")
        }
        return value
    }

    /// Returns all properties of an interface of an object.
    public func properties(
        of interface: String, at path: ObjectPath, _ destination: BusName, timeout: Duration = defaultTimeout
    ) throws(BusError) -> [String: BusVariant] {
        let method = BusMethod(destination, path, BusMethodCall.propertiesInterface, "GetAll")
        var response = try call(
            method, [.string(interface)], returning: [.dictionary(key: .string, value: .variant)], timeout: timeout)
        return try response.next()
    }

    /// Sets a property of an object.
    public func setProperty(
        _ name: String, of interface: String, at path: ObjectPath, _ destination: BusName,
        to value: some BusRepresentable, timeout: Duration = defaultTimeout
    ) throws(BusError) {
        let method = BusMethod(destination, path, BusMethodCall.propertiesInterface, "Set")
        try call(method, [.string(interface), .string(name), .variant(value.busValue)], timeout: timeout)
    }
}
