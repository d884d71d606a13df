// SPDX-License-Identifier: Apache-2.0

import Glibc
import KeychainModel
import KeychainTesting
@testable import LatchkeyClient
import LatchkeyOperations
import LatchkeyProtocol
@testable import LatchkeyServer
import LatchkeyService
import LinuxSystem
import SecretMemory
import Synchronization
import Testing

/// Tests of the client against daemons that fail.
@Suite("Client")
struct ClientTests {
    /// A daemon that follows a script: one action for each connection, in order.
    final class ScriptedDaemon: DaemonConnector {
        enum Action: Sendable {
            /// Passes every request to the server and every response to the client.
            case serve
            /// Reads the request, passes it to the server if `performsRequest`, and closes the
            /// connection without a response.
            case vanish(performsRequest: Bool)
            /// Reports another instance than before.
            case restarted
            /// Refuses the connection.
            case absent
            /// Sends a response that does not match the request.
            case babble
            /// Refuses the request as malformed, as a daemon that does not know it.
            case older
        }

        private let server: KeychainServer
        private let script: Mutex<[Action]>
        private let caller: CallerIdentity
        let connections = Mutex(0)

        init(
            _ server: KeychainServer, _ script: [Action],
            as caller: CallerIdentity = CallerIdentity(executable: "/usr/bin/example", declaredGroups: ["G1"])
        ) {
            self.server = server
            self.caller = caller
            self.script = Mutex(script)
        }

        func connect() throws(KeychainError) -> Socket {
            let action = script.withLock { $0.isEmpty ? .serve : $0.removeFirst() }
            connections.withLock { $0 += 1 }
            if case .absent = action { throw .notAvailable }
            do throws(SystemError) {
                let (ownEnd, peerEnd) = try Socket.pair()
                if case .serve = action {
                    server.serve(peerEnd, as: caller)
                } else {
                    let (near, far) = try Socket.pair()
                    server.serve(far, as: caller)
                    BackgroundThread.run { _ = try? Self.play(action, FrameChannel(peerEnd), FrameChannel(near)) }
                }
                return ownEnd
            } catch {
                throw KeychainError(error)
            }
        }

        private static func play(_ action: Action, _ client: FrameChannel, _ server: FrameChannel) throws {
            guard let hello = try client.receive()?.frame else { return }
            try server.send(hello)
            guard var welcome = try server.receive()?.frame else { return }
            if case .restarted = action {
                var numbered = try NumberedResponse(welcome)
                if case .content(var text as Welcome) = numbered.response {
                    text.instance = [UInt8](repeating: 1, count: 16)
                    numbered.response = .content(text)
                }
                welcome = try numbered.frame()
            }
            try client.send(welcome)
            while let request = try client.receive()?.frame {
                if case .babble = action {
                    try client.send(try NumberedResponse(number: 0, .content(Ready())).frame())
                    continue
                }
                if case .older = action {
                    try client.send(try NumberedResponse(number: 0, .failure(.decode)).frame())
                    return
                }
                if case .vanish(let performsRequest) = action {
                    if performsRequest {
                        try server.send(request)
                        _ = try server.receive()
                    }
                    return
                }
                try server.send(request)
                while let response = try server.receive()?.frame {
                    try client.send(response)
                    if try !NumberedResponse(response).response.moreFollows { break }
                }
            }
        }
    }

    private func service(_ fixture: ServerFixture, _ script: [ScriptedDaemon.Action]) -> (DaemonService, ScriptedDaemon)
    {
        let daemon = ScriptedDaemon(fixture.server, script)
        return (DaemonService(daemon) { CallerIdentity(executable: "x") }, daemon)
    }

    private let caller = CallerIdentity(executable: "x")

    private func count(_ fixture: ServerFixture) throws -> Int {
        guard
            case .content(let found as FoundItems) = try fixture.client().ask(
                CopyItems(Items.query(limit: .all), returning: []))
        else {
            return 0
        }
        return found.matches.records.count
    }

    @Test("Observing the changes of an older daemon, or of a closed keychain, is an error with a reason")
    func changesUnavailable() throws {
        let fixture = try ServerFixture()
        let (service, _) = service(fixture, [.older])
        let older = try #require(throws: KeychainError.self) { try service.addChangeObserver { _ in } }
        #expect(older.status == .notAvailable && older.hint == "restart latchkeyd", "\(older)")
        let number = try service.addChangeObserver { _ in }
        service.removeChangeObserver(number)
        service.close()
        let closed = try #require(throws: KeychainError.self) { try service.addChangeObserver { _ in } }
        #expect(closed.status == .notAvailable)
    }

    @Test("A change with a lost response is repeated and made only once", arguments: [true, false])
    func lostAnswer(_ wasMade: Bool) throws {
        let fixture = try ServerFixture()
        let (service, daemon) = service(fixture, [.vanish(performsRequest: wasMade), .serve])
        let record = try service.by(caller).add(Items.addition("a", data: "secret"))
        #expect(record.text == "secret")
        #expect(try count(fixture) == 1)
        #expect(daemon.connections.withLock { $0 } == 2)
    }

    @Test(
        "A change is reported as unknown and not repeated if its response was lost with the daemon",
        arguments: [true, false])
    func lostDaemon(_ wasMade: Bool) throws {
        let fixture = try ServerFixture()
        let (service, _) = service(fixture, [.vanish(performsRequest: wasMade), .restarted])
        let error = #expect(throws: KeychainError.self) { try service.by(caller).add(Items.addition("a")) }
        #expect(
            error?.status == .io && error?.problem.contains("it is unknown whether the change was made") == true
                && error?.hint != nil)
        #expect(try count(fixture) == (wasMade ? 1 : 0))
    }

    @Test(
        "A change without a response is reported as unknown, even if no daemon comes back or every attempt fails", .long
    )
    func neverAnswered() throws {
        let fixture = try ServerFixture()
        let (service, _) = service(fixture, Array(repeating: .vanish(performsRequest: false), count: 20))
        let error = #expect(throws: KeychainError.self) { try service.by(caller).add(Items.addition("a")) }
        #expect(
            error?.problem.contains("it is unknown whether the change was made") == true, "\(String(describing: error))"
        )
        let (other, _) = self.service(
            fixture, [.vanish(performsRequest: true)] + Array(repeating: .absent, count: 1000))
        let away = #expect(throws: KeychainError.self) { try other.by(caller).add(Items.addition("b")) }
        #expect(
            away?.problem.contains("it is unknown whether the change was made") == true, "\(String(describing: away))")
    }

    @Test("A lookup is repeated with any daemon that answers")
    func lostLookup() throws {
        let fixture = try ServerFixture()
        _ = try fixture.client().ask(AddItem(Items.addition("a", data: "secret", group: "G1")))
        let (service, daemon) = service(
            fixture, [.vanish(performsRequest: true), .vanish(performsRequest: false), .restarted])
        #expect(
            try service.by(caller).copyMatching(Items.query("a"), returning: .data).records.map(\.text) == ["secret"]
        )
        #expect(daemon.connections.withLock { $0 } == 3)
    }

    @Test("After several lost connections the client stops trying and reports it")
    func alwaysLost() throws {
        let fixture = try ServerFixture()
        let (service, _) = service(fixture, Array(repeating: .vanish(performsRequest: false), count: 20))
        let error = #expect(throws: KeychainError.self) { try service.administrator.lockStatus() }
        #expect(error?.status == .io)
    }

    @Test("A response that does not match the request is an error, not a trap")
    func babbling() throws {
        let fixture = try ServerFixture()
        let (service, _) = service(fixture, [.babble])
        let error = #expect(throws: KeychainError.self) { try service.administrator.lockStatus() }
        #expect(error?.status == .internalFailure)
    }

    @Test("An idle connection that the daemon has closed is replaced before anything is sent")
    func staleConnection() throws {
        let fixture = try ServerFixture(limits: ServerLimits(connectionsPerUser: 2, connectionsPerProcess: 2))
        let (service, daemon) = service(fixture, [])
        _ = try service.by(caller).add(Items.addition("a"))
        // Two other connections make the server close it.
        let others = try (0..<2).map { _ in
            fixture.waitUntilIdle()
            return try fixture.client()
        }
        fixture.waitUntilIdle()
        _ = try service.by(caller).add(Items.addition("b"))
        fixture.waitUntilIdle()
        #expect(try count(fixture) == 2)
        #expect(daemon.connections.withLock { $0 } == 2)
        _ = others
    }

    @Test("Lock observers see every change, including one while the daemon was not running")
    func observers() throws {
        let fixture = try ServerFixture()
        let (service, _) = service(fixture, [])
        let passcode = SharedSecret(copying: "a passcode".utf8)
        try service.administrator.setPasscode(passcode) { _, _ in }
        let states = Mutex<[LockState?]>([])
        let number = service.addLockObserver(reportsPresent: false) { state in states.withLock { $0.append(state) } }
        try service.administrator.lock(immediately: true)
        #expect(eventually { states.withLock { $0 } == [.locked] })
        try service.administrator.unlock(passcode) { _, _ in }
        #expect(eventually { states.withLock { $0 } == [.locked, .unlocked] })
        service.removeLockObserver(number)
        let later = Mutex<[LockState?]>([])
        _ = service.addLockObserver(reportsPresent: false) { state in later.withLock { $0.append(state) } }
        try service.administrator.lock(immediately: true)
        #expect(eventually { later.withLock { $0.contains(.locked) } })
        #expect(states.withLock { $0.count } == 2)
        service.close()
    }

    @Test("A daemon that ends is reported to lock observers once, with no state", .long)
    func lostDaemon() throws {
        let fixture = try ServerFixture()
        // One connection, and none after it.
        let script = [ScriptedDaemon.Action.serve] + repeatElement(.absent, count: 100_000)
        let (service, _) = service(fixture, script)
        let states = Mutex<[LockState?]>([])
        _ = service.addLockObserver(reportsPresent: false) { state in states.withLock { $0.append(state) } }
        fixture.server.stop()
        #expect(eventually { states.withLock { $0 } == [nil] })
        // An observer of a daemon that does not answer is told so before it is added.
        let later = Mutex<[LockState?]>([])
        _ = service.addLockObserver(reportsPresent: false) { state in later.withLock { $0.append(state) } }
        #expect(later.withLock { $0 } == [nil])
        #expect(states.withLock { $0 } == [nil])
        service.close()
    }

    @Test(
        "A process with the passcode opens its own session for locked items; the daemon stays locked for the others"
    )
    func ownSession() throws {
        let fixture = try ServerFixture()
        // The connections of a session come from this process, and it has no identity.
        let unknownCaller = ProgramIdentity.ofThisProcess()
        let plain = DaemonService(ScriptedDaemon(fixture.server, [], as: unknownCaller)) { unknownCaller }
        let passcode = SharedSecret(copying: "a passcode".utf8)
        _ = try plain.by(caller).add(Items.addition("a", data: "secret"))
        try plain.administrator.setPasscode(passcode) { _, _ in }
        try plain.administrator.lock(immediately: true)
        let asked = Atomic(0)
        let daemon = ScriptedDaemon(fixture.server, [], as: unknownCaller)
        let identified = DaemonService(daemon, claim: { unknownCaller }) { () throws(KeychainError) in
            asked.add(1, ordering: .relaxed)
            return passcode
        }
        for _ in 0..<3 {
            #expect(
                try identified.by(caller).copyMatching(Items.query("a"), returning: .data).records.map(\.text) == [
                    "secret"
                ])
        }
        #expect(asked.load(ordering: .relaxed) == 1)
        // If the session was locked or has ended, a question about the lock opens none, and a need for an item does.
        fixture.server.handleSessionEvent(.end)
        identified.unlockAutomatically()
        #expect(try identified.administrator.lockStatus().state == .locked && asked.load(ordering: .relaxed) == 1)
        #expect(
            try identified.by(caller).copyMatching(Items.query("a"), returning: .data).records.map(\.text) == [
                "secret"
            ])
        let refused = #expect(throws: KeychainError.self) {
            try plain.by(caller).copyMatching(Items.query("a"), returning: .data)
        }
        #expect(refused?.status == .interactionNotAllowed)
        #expect(try plain.administrator.lockStatus().state == .locked)
        identified.close()
    }
}
