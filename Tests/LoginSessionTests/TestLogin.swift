// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import KeychainTesting
import LinuxSystem
import Synchronization
import SystemBus

/// A logind for one test, on a private bus.
final class TestLogin: Sendable {
    struct Session {
        let identifier: String
        let user: UInt32
        let kind: String
        var lockedHint = false
    }

    private struct State {
        var sessions: [ObjectPath: Session] = [:]
        /// The other ends of the inhibitors. Reading from an end stops when its inhibitor was released.
        var inhibitors: [BusDescriptor] = []
        var isPreparingForSleep = false
        var refusesInhibitors = false
        var lists = 0
        /// The sessions with properties that were read.
        var readSessions: Set<ObjectPath> = []
    }

    let bus: BusConnection
    private let state = Mutex(State())
    private let registrations = Mutex<[BusRegistration]>([])
    private static let name: BusName = "org.freedesktop.login1"
    private static let path: ObjectPath = "/org/freedesktop/login1"
    private static let manager = "org.freedesktop.login1.Manager"
    private static let session = "org.freedesktop.login1.Session"

    init(
        _ address: String, refusesInhibitors: Bool = false, isPreparingForSleep: Bool = false, sessions: [Session] = []
    ) throws {
        bus = try BusConnection(to: .custom(address))
        for session in sessions { try insert(session) }
        state.withLock { ($0.refusesInhibitors, $0.isPreparingForSleep) = (refusesInhibitors, isPreparingForSleep) }
        let object = try bus.export(at: Self.path) { [weak self] call in self?.answer(call) }
        // The bus may not have noticed yet that the last owner has gone.
        let owned = Mutex<BusRegistration?>(nil)
        let bus = bus
        let isOwner = eventually {
            owned.withLock { $0 = try? bus.own(Self.name) }
            return owned.withLock { $0 != nil } || !bus.isOpen
        }
        guard isOwner, let name = owned.withLock({ $0 }) else { throw BusError.nameTaken(Self.name) }
        registrations.withLock { $0 = [object, name] }
    }

    /// Disappears from the bus.
    func stop() {
        registrations.withLock { $0 = [] }
        bus.close()
    }

    // MARK: Actions of tests

    func addSession(_ session: Session) throws {
        let path = try insert(session)
        try emitManager("SessionNew", [.string(session.identifier), .objectPath(path)])
    }

    func removeSession(_ identifier: String) throws {
        let path = try Self.path(of: identifier)
        state.withLock { $0.sessions[path] = nil }
        try emitManager("SessionRemoved", [.string(identifier), .objectPath(path)])
    }

    /// Sends `Lock` or `Unlock`.
    func request(_ member: String, of identifier: String) throws {
        try bus.emit(from: try Self.path(of: identifier), Self.session, member)
    }

    func setLockedHint(_ isLocked: Bool, of identifier: String) throws {
        let path = try Self.path(of: identifier)
        state.withLock { $0.sessions[path]?.lockedHint = isLocked }
        try bus.emit(
            from: path, BusMethodCall.propertiesInterface, "PropertiesChanged",
            [.string(Self.session), ["LockedHint": BusVariant(isLocked)].busValue, [String]().busValue])
    }

    func prepareForSleep(_ isBefore: Bool) throws {
        state.withLock { $0.isPreparingForSleep = isBefore }
        try emitManager("PrepareForSleep", [.boolean(isBefore)])
    }

    /// The number of inhibitors that are held.
    var inhibitorCount: Int {
        state.withLock { state in
            state.inhibitors.count { reading in
                var entry = pollfd(fd: reading.rawValue, events: Int16(POLLIN), revents: 0)
                return poll(&entry, 1, 0) == 0
            }
        }
    }

    /// How many inhibitors were requested.
    var inhibitorRequests: Int { state.withLock { $0.inhibitors.count } }

    /// How many times the sessions were listed.
    var lists: Int { state.withLock { $0.lists } }

    /// Waits until a listener has handled the signals that were sent so far: until it has read the
    /// properties of a new session of a user that no test has.
    func waitUntilHandled() throws {
        let identifier = "barrier\(state.withLock { $0.readSessions.count })"
        let path = try Self.path(of: identifier)
        try addSession(Session(identifier: identifier, user: 65_000, kind: "background"))
        guard eventually({ state.withLock { $0.readSessions.contains(path) } }) else { throw NotHandled() }
    }

    struct NotHandled: Error {}

    // MARK: Behavior of logind

    @discardableResult
    private func insert(_ session: Session) throws -> ObjectPath {
        let path = try Self.path(of: session.identifier)
        state.withLock { $0.sessions[path] = session }
        return path
    }

    private func emitManager(_ member: String, _ arguments: [BusValue]) throws {
        try bus.emit(from: Self.path, Self.manager, member, arguments)
    }

    static func path(of identifier: String) throws -> ObjectPath {
        try ObjectPath(validating: "/org/freedesktop/login1/session/_\(identifier)")
    }

    private func answer(_ call: BusMethodCall) {
        switch call.propertyRequest {
        case .getAll(Self.session): return answerSession(call)
        case .get(Self.manager, "PreparingForSleep"):
            return call.answer([.variant(.boolean(state.withLock { $0.isPreparingForSleep }))])
        default: break
        }
        if call.isCall(of: Self.manager, "ListSessions") { return call.answer([list()]) }
        if call.isCall(of: Self.manager, "Inhibit") { return call.answer { [try inhibit(call)] } }
        call.fail(.unknownMethod("\(call.member)"))
    }

    private func answerSession(_ call: BusMethodCall) {
        let session = state.withLock { state in
            state.readSessions.insert(call.path)
            return state.sessions[call.path]
        }
        guard let session else {
            return call.fail(.unknownObject("no session"))
        }
        let user = BusValue.structure([.uint32(session.user), .objectPath("/org/freedesktop/login1/user/self")])
        let properties = [
            "User": BusVariant(user), "Class": BusVariant(session.kind), "LockedHint": BusVariant(session.lockedHint),
        ]
        call.answer([properties.busValue])
    }

    private func list() -> BusValue {
        let sessions = state.withLock { state in
            state.lists += 1
            return state.sessions
        }
        return .array(
            of: .structure([.string, .uint32, .string, .string, .objectPath]),
            sessions.map {
                .structure([
                    .string($1.identifier), .uint32($1.user), .string("user"), .string("seat0"), .objectPath($0),
                ])
            })
    }

    private func inhibit(_ call: BusMethodCall) throws -> BusValue {
        guard !state.withLock({ $0.refusesInhibitors }) else { throw BusFailure.accessDenied("no inhibitors") }
        guard call.arguments.remaining.last == .string("delay"), call.arguments.remaining.first == .string("sleep")
        else { throw BusFailure.invalidArguments("only delays of sleep") }
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw BusFailure.failed("no pipe") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let reading = BusDescriptor(OwnedDescriptor(adopting: ends[0]))
        state.withLock { $0.inhibitors.append(reading) }
        return .descriptor(BusDescriptor(OwnedDescriptor(adopting: ends[1])))
    }
}
