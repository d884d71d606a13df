// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import KeychainModel
import KeychainTesting
import LatchkeyOperations
import LatchkeyProtocol
@testable import LatchkeyServer
import LatchkeyService
@_spi(Testing) import LinuxSystem
import SecretMemory
import Testing

/// Limits are applied before the work starts, and failures release their permits.
@Suite("Resource limits")
struct ResourceLimitTests {
    @Test("Of a hundred concurrent session requests, only the allowed number is opened")
    func sessionsAtOnce() throws {
        let fixture = try ServerFixture(limits: ServerLimits(sessionsPerUser: 3))
        let clients = try (0..<100).map { _ in try fixture.client() }
        for client in clients { try client.send(OpenSession(nil)) }
        // No client sends its descriptor, so every session is still being opened when the last
        // request is answered.
        let answers = try clients.map { try $0.receive() }
        let ready = answers.count { if case .content(is Ready)? = $0 { true } else { false } }
        let refused = answers.count {
            $0?.problem?.status == .notAvailable && $0?.problem?.problem.contains("3 sessions") == true
        }
        #expect(ready == 3 && refused == 97)
    }

    @Test("A session that cannot be opened releases its permit")
    func failedSession() throws {
        let fixture = try ServerFixture(limits: ServerLimits(sessionsPerUser: 1))
        let passcode = SharedSecret(copying: "a passcode".utf8)
        #expect(try fixture.client().ask(SetPasscode(passcode)).problem == nil)
        let client = try fixture.client()
        for _ in 0..<3 {
            #expect(
                try client.ask(OpenSession(SharedSecret(copying: "a wrong one".utf8))).problem?.status == .authFailed)
        }
        try client.send(OpenSession(passcode))
        var answer = try client.receive()
        while case .progress? = answer { answer = try client.receive() }
        guard case .content(is Ready)? = answer else {
            Issue.record("the permit was not released: \(String(describing: answer))")
            return
        }
    }

    @Test("A large message waits until the user's previous one is decoded; a small one does not wait")
    func decodings() throws {
        let fixture = try ServerFixture(limits: ServerLimits(timeout: 300))
        let (large, small) = (try fixture.client(), try fixture.client())
        var permit = fixture.server.shared.decodings.acquire(for: getuid(), timeout: 0)
        #expect(permit != nil)
        let text = String(repeating: "s", count: 5000)
        try large.send(
            CopyItems(ItemQuery(.genericPassword, attributes: [.service: .string(text)]), returning: .attributes))
        // The large message arrived before these requests, and still waits after them.
        for _ in 0..<10 { #expect(try small.ask(ReadStatus()).problem == nil) }
        var event = pollfd(fd: large.socket.descriptor, events: Int16(POLLIN), revents: 0)
        #expect(poll(&event, 1, 200) == 0)
        permit = nil
        #expect(try large.receive()?.problem?.status == .itemNotFound)
    }

    @Test("A large frame that never arrives completely does not hold the permit to decode, and others are answered")
    func stalledFrames() throws {
        let fixture = try ServerFixture()
        // Each announces a message of four mebibytes, and sends no byte of it.
        let stalled = try (0..<4).map { _ in try fixture.client() }
        for client in stalled { try client.sendBytes([0, 0x40, 0, 0, 0, 0, 0, 0]) }
        let text = String(repeating: "s", count: 100_000)
        let request = CopyItems(
            ItemQuery(.genericPassword, attributes: [.service: .string(text)]), returning: .attributes)
        #expect(try fixture.client().ask(request).problem?.status == .itemNotFound)
        withExtendedLifetime(stalled) {}
    }

    /// Opens a session without a passcode; returns the server's response and the socket for its
    /// connections.
    private func openSession(_ client: RawClient) throws -> (answer: Response?, control: Socket) {
        let (ownEnd, peerEnd) = try Socket.pair(preservesBoundaries: true)
        try client.send(OpenSession(nil))
        let first = try client.receive()
        guard case .content(is Ready)? = first else { return (first, ownEnd) }
        try client.socket.send(descriptor: peerEnd.descriptor)
        return (try client.receive(), ownEnd)
    }

    @Test("A session that has ended releases its permit while the connection that opened it stays open")
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
            // No process holds the other end of the session's socket any more.
            #expect(eventually { sessions.permitCount(of: geteuid()) == 0 })
            #expect(fixture.server.registry.sessions().isEmpty)
        }
        #expect(try client.ask(ReadLockStatus()).problem == nil)
    }

    @Test("The work of a session is cancelled when the session ends, and its permit is released after that", .long)
    func endedSessionWithRequest() throws {
        let fixture = try ServerFixture(limits: ServerLimits(sessionsPerUser: 1, slowWorkPerUser: 1))
        let (client, sessions, pool) = (try fixture.client(), fixture.server.sessions, fixture.server.shared.slowWork)
        let gate = DispatchSemaphore(value: 0)
        defer { gate.signal() }
        BackgroundThread.run {
            try? pool.run(.computation, for: geteuid(), isAbandoned: { false }) { () throws(KeychainError) in
                gate.awaitSignal()
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
            try inside.send(CheckKeychain())
            #expect(eventually { pool.load == (1, 1) })
            withExtendedLifetime(session) {}
        }
        // The running work continues, because it does not belong to the session.
        #expect(eventually { pool.load == (1, 0) })
        #expect(try inside.receive()?.problem?.status == .notAvailable)
        #expect(eventually { sessions.permitCount(of: geteuid()) == 0 })
        #expect(try openSession(client).answer?.problem == nil)
    }

    @Test("A permit is counted for its user, and is free after its release")
    func places() {
        let limiter = ConcurrencyLimiter(2)
        var held = [limiter.acquire(for: 1, timeout: 0), limiter.acquire(for: 1, timeout: 0)]
        #expect(held.allSatisfy { $0 != nil })
        #expect(limiter.acquire(for: 1, timeout: 0) == nil)
        #expect(limiter.acquire(for: 2, timeout: 0) != nil)
        held.removeLast()
        #expect(limiter.acquire(for: 1, timeout: 0) != nil)
    }

    @Test("A server that stops does not wait for a listener that has no thread")
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
