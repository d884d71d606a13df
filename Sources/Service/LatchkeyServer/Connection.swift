// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import KeychainModel
internal import LatchkeyProtocol
internal import LatchkeyService
internal import LinuxSystem
internal import Logging
internal import Synchronization

/// One client's connection, and the thread that serves it.
final class Connection: Sendable {
    private struct State {
        /// Since when no request is being served; nil while one is.
        var idleSince: UInt64?
        var isClosing = false
        var sessions: [OpenSession] = []
    }

    /// A session that the client has opened: its server, and the socket that brings its connections.
    struct OpenSession {
        let server: KeychainServer
        let control: Socket
    }

    let user: UInt32
    let process: Int32
    private let peer: Peer
    private let server: KeychainServer
    private let channel: FrameChannel
    private let fixed: CallerIdentity?
    private let state = Mutex(State(idleSince: BootClock.system.now()))

    init(_ socket: Socket, server: KeychainServer, fixed: CallerIdentity?) throws(SystemError) {
        let peer = try Peer(of: socket)
        self.peer = peer
        (user, process) = (peer.user, peer.process)
        self.server = server
        self.fixed = fixed
        let consumer = MemoryBudget.MemoryConsumer(user: peer.user, process: peer.process)
        channel = FrameChannel(socket) { (length) throws(WireError) in
            guard let reservation = server.shared.budget.reserve(length, for: consumer) else { throw .slow }
            return reservation
        }
    }

    // MARK: Its life

    var idleSince: UInt64? { state.withLock { $0.idleSince } }
    /// Whether the connection may be closed for another one: it is idle, and nothing hangs on it.
    var canBeClosed: Bool { state.withLock { $0.idleSince != nil && $0.sessions.isEmpty } }
    var isClosing: Bool { state.withLock { $0.isClosing } }

    /// Takes no more requests. What has arrived already is answered; sending anything more fails on the client's side.
    func closeAfterResponse() {
        state.withLock { $0.isClosing = true }
        channel.socket.stop()
    }

    /// Says why the connection is not served. A client that does not listen is not waited for.
    func refuse(_ error: KeychainError) {
        if let frame = try? NumberedResponse(number: 0, .failure(error)).frame() {
            _ = try? channel.sendWithoutBlocking(frame)
        }
    }

    func run() {
        defer { endSessions() }
        do throws(WireError) {
            guard let caller = try handshake() else { return }
            while let request = try nextRequest() {
                defer { state.withLock { $0.idleSince = BootClock.system.now() } }
                try handler(caller).answer(request.numbered)
                withExtendedLifetime(request.reservation) {}
            }
        } catch {
            logError(error)
        }
    }

    private func nextRequest() throws(WireError) -> (numbered: NumberedRequest, reservation: FrameChannel.Reservation?)?
    {
        guard let (frame, reservation) = try channel.receive() else { return nil }
        state.withLock { $0.idleSince = nil }
        return (try NumberedRequest(frame), reservation)
    }

    /// The client's hello, and ours; nil where it has gone.
    private func handshake() throws(WireError) -> ConnectedCaller? {
        guard let first = try nextRequest()?.numbered else { return nil }
        guard case .hello(let hello) = first.request else { throw .malformed("the first request is no hello") }
        let (welcome, problem) = welcome()
        guard let welcome else {
            if let problem { try send(.failure(problem), to: first.number) }
            return nil
        }
        try send(.welcome(welcome), to: first.number)
        state.withLock { $0.idleSince = BootClock.system.now() }
        return ConnectedCaller(peer, claim: hello.claim, reader: server.reader)
    }

    private func welcome() -> (Response.Welcome?, KeychainError?) {
        do throws(KeychainError) {
            let (mode, home) = try server.provider.modeAndHome(for: user)
            let welcome = Response.Welcome(
                instance: server.instance, mode: mode, dataDirectory: home?.dataDirectory ?? "",
                stateDirectory: home?.stateDirectory ?? "")
            return (welcome, nil)
        } catch {
            return (nil, error)
        }
    }

    private func send(_ response: Response, to number: UInt64) throws(WireError) {
        try channel.send(try NumberedResponse(number: number, response).frame())
    }

    private func handler(_ caller: ConnectedCaller) -> RequestHandler {
        RequestHandler(
            server: server, channel: channel, caller: caller, fixed: fixed, user: user, process: process,
            connection: self)
    }

    // MARK: What requests do to the connection

    /// Keeps a session until it is over, or the connection ends.
    func addSession(_ session: OpenSession) {
        state.withLock { $0.sessions.append(session) }
    }

    /// Lets a session go that is over.
    func drop(sessionOf server: KeychainServer) {
        // The last reference to a session's server may go with it, which must not happen under the lock.
        let dropped = state.withLock { state in
            let dropped = state.sessions.filter { $0.server === server }
            state.sessions.removeAll { $0.server === server }
            return dropped
        }
        withExtendedLifetime(dropped) {}
    }

    var sessions: [KeychainServer] { state.withLock { $0.sessions.map(\.server) } }

    /// Ends the sessions, all at the same time.
    private func endSessions() {
        let sessions = state.withLock { $0.sessions }
        for session in sessions { session.control.stop() }
        for session in sessions { session.server.stop(timeout: 5) }
        state.withLock { $0.sessions = [] }
    }

    /// Tells a client what was wrong with what it sent, before the connection ends: after a frame that is none, nothing that follows is sure to
    /// be one.
    private func logError(_ error: WireError) {
        let status: OSStatusCode
        switch error {
        case .malformed: status = .decode
        case .version: status = .wrongSecVersion
        case .slow: status = .io
        case .ended, .system:
            return server.log.debug("a connection ended", metadata: ["reason": "\(error.description)"])
        }
        server.log.notice(
            "a connection was ended",
            metadata: ["user": "\(user)", "process": "\(process)", "reason": "\(error.description)"])
        refuse(
            KeychainError(
                status, "latchkeyd cannot use what this program sent: \(error.description)",
                hint: "use one version of Latchkey"))
    }
}
