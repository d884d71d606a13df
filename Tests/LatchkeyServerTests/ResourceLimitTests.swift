// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import KeychainModel
import KeychainTesting
@testable import LatchkeyProtocol
@testable import LatchkeyServer
import LatchkeyService
@_spi(Testing) import LinuxSystem
import SecretMemory
import Testing

/// Limits that are counted before the work, and what a failure gives back.
@Suite("Resource limits")
struct ResourceLimitTests {
    @Test("Of a hundred sessions that are asked for at once, as many are opened as the limit allows")
    func sessionsAtOnce() throws {
        let fixture = try ServerFixture(limits: ServerLimits(sessionsPerUser: 3))
        let clients = try (0..<100).map { _ in try fixture.client() }
        for client in clients { try client.send(.openSession(nil)) }
        // No client sends its descriptor: every session is still being opened when the last request is answered.
        let answers = try clients.map { try $0.receive() }
        let ready = answers.count { if case .ready? = $0 { true } else { false } }
        let refused = answers.count {
            $0?.problem?.status == .notAvailable && $0?.problem?.problem.contains("3 sessions") == true
        }
        #expect(ready == 3 && refused == 97)
    }

    @Test("A session that could not be opened gives its place back")
    func failedSession() throws {
        let fixture = try ServerFixture(limits: ServerLimits(sessionsPerUser: 1))
        let passcode = SharedSecret(copying: "a passcode".utf8)
        #expect(try fixture.client().ask(.setPasscode(passcode)).problem == nil)
        let client = try fixture.client()
        for _ in 0..<3 {
            #expect(
                try client.ask(.openSession(SharedSecret(copying: "a wrong one".utf8))).problem?.status == .authFailed)
        }
        try client.send(.openSession(passcode))
        var answer = try client.receive()
        while case .progress? = answer { answer = try client.receive() }
        guard case .ready? = answer else {
            Issue.record("the place was not given back: \(String(describing: answer))")
            return
        }
    }

    /// Opens a session without a passcode; what the server answers, and the end through which its connections come.
    private func openSession(_ client: RawClient) throws -> (answer: Response?, control: Socket) {
        let (ownEnd, peerEnd) = try Socket.pair(preservesBoundaries: true)
        try client.send(.openSession(nil))
        let first = try client.receive()
        guard case .ready? = first else { return (first, ownEnd) }
        try client.socket.send(descriptor: peerEnd.descriptor)
        return (try client.receive(), ownEnd)
    }

    @Test("A session that has ended gives its place back, although the connection that opened it goes on")
    func endedSession() throws {
        let fixture = try ServerFixture(limits: ServerLimits(sessionsPerUser: 1))
        let (client, sessions) = (try fixture.client(), fixture.server.sessions)
        for _ in 0..<10 {
            do {
                let session = try openSession(client)
                #expect(session.answer?.problem == nil && sessions.permitCount(of: geteuid()) == 1)
                #expect(try openSession(try fixture.client()).answer?.problem?.status == .notAvailable)
                #expect(fixture.server.registry.sessions().count == 1)
                withExtendedLifetime(session) {}
            }
            // Nothing holds the session's end any more.
            #expect(eventually { sessions.permitCount(of: geteuid()) == 0 })
            #expect(fixture.server.registry.sessions().isEmpty)
        }
        #expect(try client.ask(.lockStatus).problem == nil)
    }

    @Test("What a session has asked for is cancelled when the session is over, and only then its place is free")
    func endedSessionWithRequest() throws {
        let fixture = try ServerFixture(limits: ServerLimits(sessionsPerUser: 1, slowWorkPerUser: 1))
        let (client, sessions, pool) = (try fixture.client(), fixture.server.sessions, fixture.server.shared.slowWork)
        let gate = DispatchSemaphore(value: 0)
        defer { gate.signal() }
        BackgroundThread.run {
            try? pool.run(.computation, for: geteuid(), isAbandoned: { false }) { () throws(KeychainError) in
                gate.wait()
            }
        }
        #expect(eventually { pool.load == (1, 0) })
        let inside: RawClient
        do {
            let session = try openSession(client)
            let (ownEnd, peerEnd) = try Socket.pair()
            try session.control.send(descriptor: peerEnd.descriptor)
            inside = RawClient(ownEnd)
            try inside.hello()
            try inside.send(.check)
            #expect(eventually { pool.load == (1, 1) })
            withExtendedLifetime(session) {}
        }
        // The work that runs goes on: it is not the session's.
        #expect(eventually { pool.load == (1, 0) })
        #expect(try inside.receive()?.problem?.status == .notAvailable)
        #expect(eventually { sessions.permitCount(of: geteuid()) == 0 })
        #expect(try openSession(client).answer?.problem == nil)
    }

    @Test("A place belongs to the user who took it, and is free when it is released")
    func places() {
        let limiter = ConcurrencyLimiter(2)
        var held = [limiter.acquire(for: 1, timeout: 0), limiter.acquire(for: 1, timeout: 0)]
        #expect(held.allSatisfy { $0 != nil })
        #expect(limiter.acquire(for: 1, timeout: 0) == nil)
        #expect(limiter.acquire(for: 2, timeout: 0) != nil)
        held.removeLast()
        #expect(limiter.acquire(for: 1, timeout: 0) != nil)
    }

    @Test("A listener whose thread could not start is not waited for when the server stops")
    func listenerWithoutThread() throws {
        let fixture = try ServerFixture()
        let directory = try TemporaryDirectory()
        let socket = try Socket(listeningAt: "\(directory.path)/socket", permissions: 0o600)
        BackgroundThread.$isExhausted.withValue(true) {
            _ = #expect(throws: SystemError.self) { try fixture.server.listen(on: socket) }
        }
        #expect(fixture.server.listenerCount == 0)
        try fixture.server.listen(on: socket)
        #expect(fixture.server.listenerCount == 1)
    }
}
