// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import KeychainModel
internal import LatchkeyOperations
internal import LatchkeyProtocol
internal import LatchkeyService
internal import LinuxSystem
internal import Logging

/// One client's connection, and the thread that serves it.
final class Connection: Sendable {
    private struct State {
        /// When the last request ended; nil while a request is being processed.
        var idleSince: UInt64?
        var isClosing = false
        var sessions: [OpenSession] = []
        /// The user's keychain that the connection is for.
        var name: KeychainName?
    }

    /// A session that the client has opened: its server, and the socket that receives its
    /// connections.
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
    private let state = SystemMutex(State(idleSince: BootClock.system.now()))

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

    // MARK: State

    var idleSince: UInt64? { state.withLock { $0.idleSince } }
    /// Whether the connection may be closed to make place for another one: it is idle and has no
    /// sessions.
    var canBeClosed: Bool { state.withLock { $0.idleSince != nil && $0.sessions.isEmpty } }
    var isClosing: Bool { state.withLock { $0.isClosing } }

    /// Stops reading requests. Requests that have already arrived are answered; the client's next
    /// send fails.
    func closeAfterResponse() {
        state.withLock { $0.isClosing = true }
        channel.socket.stop()
    }

    /// Sends the reason why the connection is refused, without waiting for a client that does not
    /// read.
    func refuse(_ error: KeychainError) {
        if let frame = try? NumberedResponse(number: 0, .failure(error)).frame() {
            _ = try? channel.sendWithoutBlocking(frame)
        }
    }

    func run() {
        defer { endSessions() }
        do throws(WireError) {
            guard let caller = try handshake() else { return }
            while let response = try nextResponse(to: caller) {
                defer {
                    state.withLock { $0.idleSince = BootClock.system.now() }
                    server.somethingHasEnded()
                }
                try response.deliver()
            }
        } catch {
            logError(error)
        }
    }

    /// Waits for a request and processes it. When this returns, the memory of the request is
    /// released, so that it does not count together with that of the result.
    private func nextResponse(to caller: ConnectedCaller) throws(WireError) -> DeliverableResponse? {
        guard let (numbered, reservation) = try nextRequest() else { return nil }
        defer { withExtendedLifetime(reservation) {} }
        return handler(caller).respond(to: numbered)
    }

    private func nextRequest() throws(WireError) -> (numbered: NumberedRequest, reservation: FrameChannel.Reservation?)?
    {
        guard let (frame, reservation) = try channel.receive() else { return nil }
        state.withLock { $0.idleSince = nil }
        return (try decoder.decode(frame), reservation)
    }

    private var decoder: RequestDecoder {
        RequestDecoder(user: user, resources: server.shared, timeout: server.limits.timeout)
    }

    /// Exchanges hello messages; returns nil if the client has disconnected or was refused.
    private func handshake() throws(WireError) -> ConnectedCaller? {
        guard let first = try nextRequest()?.numbered else { return nil }
        guard let hello = first.operation as? Hello else { throw .malformed("the first request must be a hello") }
        let (welcome, problem) = welcome(to: hello.keychain)
        guard let welcome else {
            if let problem { try send(.failure(problem), to: first.number) }
            return nil
        }
        try send(.content(welcome), to: first.number)
        state.withLock { state in
            state.idleSince = BootClock.system.now()
            state.name = hello.keychain
        }
        return ConnectedCaller(peer, claim: hello.claim, reader: server.reader)
    }

    private func welcome(to name: KeychainName?) -> (Welcome?, KeychainError?) {
        do throws(KeychainError) {
            let (mode, home) = try server.provider.modeAndHome(for: UserKeychain(user, name ?? .login))
            let welcome = Welcome(
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
            server: server, channel: channel, decoder: decoder, caller: caller, fixed: fixed, user: user,
            name: state.withLock { $0.name }, process: process, connection: self)
    }

    // MARK: Sessions

    /// Keeps a session until the session or the connection ends.
    func addSession(_ session: OpenSession) {
        state.withLock { $0.sessions.append(session) }
    }

    /// Removes a session that has ended.
    func drop(sessionOf server: KeychainServer) {
        // This may release the last reference to the session's server. That must not happen while the lock is held.
        let dropped = state.withLock { state in
            let dropped = state.sessions.filter { $0.server === server }
            state.sessions.removeAll { $0.server === server }
            return dropped
        }
        withExtendedLifetime(dropped) {}
    }

    var sessions: [KeychainServer] { state.withLock { $0.sessions.map(\.server) } }

    /// Ends all sessions, one after the other. Their control sockets are stopped first, so that none
    /// of them gets another connection meanwhile.
    private func endSessions() {
        let sessions = state.withLock { $0.sessions }
        for session in sessions { session.control.stop() }
        for session in sessions { session.server.stop(timeout: 5) }
        state.withLock { $0.sessions = [] }
    }

    /// Reports a malformed frame to the client before the connection ends: after an invalid frame,
    /// the start of the next frame is unknown.
    private func logError(_ error: WireError) {
        let status: OSStatusCode
        var hint = "use one version of Latchkey"
        switch error {
        case .malformed: status = .decode
        case .version: status = .wrongSecVersion
        case .slow: (status, hint) = (.io, "try again; send fewer large requests at a time")
        case .ended, .system:
            return server.log.debug("connection ended", metadata: ["reason": "\(error.description)"])
        }
        server.log.notice(
            "connection closed",
            metadata: ["user": "\(user)", "process": "\(process)", "reason": "\(error.description)"])
        refuse(
            KeychainError(
                status, "latchkeyd cannot read the message of this program: \(error.description)", hint: hint))
    }
}
