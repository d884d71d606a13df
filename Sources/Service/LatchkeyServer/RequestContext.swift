// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import KeychainModel
internal import KeychainSessions
internal import LatchkeyOperations
internal import LatchkeyProtocol
internal import LatchkeyService
internal import LinuxSystem
internal import Presence
internal import SecretMemory

/// The context that the operation of one request gets from the server.
final class RequestContext: OperationContext {
    private let handler: RequestHandler
    let caller: CallerIdentity
    private let reply: Reply
    private let exchange: Exchange
    /// nil before the first use.
    private var opening: Result<ServedKeychain, KeychainError>?
    /// The search list that the request is for; nil for a single keychain, and before it is opened.
    private var list: SearchList?
    /// Why the policy has denied access to secrets; nil if it has not.
    private var refusal: KeychainError?
    /// The keychains of the search list that have answered.
    private var used: Set<KeychainName> = []

    init(handler: RequestHandler, caller: CallerIdentity, reply: Reply) {
        (self.handler, self.caller, self.reply) = (handler, caller, reply)
        exchange = Exchange(
            progress: { [reply] in reply.progress($0, $1) },
            take: { [reply] (content) throws(KeychainError) in
                guard reply.trySend(.content(content)) else {
                    throw KeychainError(.io, "the client has disconnected")
                }
            })
    }

    /// The request at one keychain of the search list.
    private init(_ whole: RequestContext, at keychain: ServedKeychain, of list: SearchList, _ exchange: Exchange) {
        (handler, caller, reply, self.exchange) = (whole.handler, whole.caller, whole.reply, exchange)
        (opening, self.list) = (.success(keychain), list)
    }

    private var server: KeychainServer { handler.server }
    private var user: UInt32 { handler.user }
    /// The one keychain that an operation on a whole keychain is about.
    private var target: UserKeychain {
        // A list that cannot be read is reported when the keychain is opened.
        let name = handler.name ?? (try? server.provider.defaultKeychain(of: user)) ?? .login
        return UserKeychain(user, name)
    }

    // MARK: The keychain

    /// The keychain of the caller's user, opened with the first use. A failure is kept: the next
    /// attempt might wait as long.
    var keychain: ServedKeychain {
        get throws(KeychainError) {
            if let opening { return try opening.get() }
            let provider = server.provider
            let (user, name) = (user, handler.name)
            let outcome = Result { () throws(KeychainError) in
                guard let name else { return try provider.openSearchList(of: user) }
                return try provider.open(UserKeychain(user, name))
            }
            opening = outcome
            return try outcome.get()
        }
    }

    /// Performs an operation, at each keychain of the search list that it is for.
    func perform<Operation: KeychainOperation>(_ operation: Operation) throws(KeychainError) -> Operation.Answer {
        guard case .success(let keychain)? = opening, let list = keychain.list else {
            return try operation.run(in: self)
        }
        var walk = SearchWalk(list.members, search: list.search, defaultKeychain: list.defaultKeychain)
        defer { used = walk.used }
        var refusal: KeychainError?
        return try walk.perform(operation, exchange, isRefusal: { $0 == refusal }) {
            (keychain, operation, exchange) throws(KeychainError) in
            let context = RequestContext(self, at: keychain, of: list, exchange)
            defer { refusal = context.refusal }
            return try operation.run(in: context)
        }
    }

    /// The audit logs of the keychains that the operation has used.
    var usedLogs: [AuditLog] { (try? keychain)?.logs(ofUsed: used) ?? [] }

    var service: EmbeddedService { get throws(KeychainError) { try keychain.service } }
    var changes: any KeychainService {
        get throws(KeychainError) {
            if let list { return list.services }
            return try service
        }
    }
    func unlockAutomatically() throws(KeychainError) { try service.unlockAutomatically() }
    var mode: KeychainStatus.Mode { get throws(KeychainError) { try keychain.mode } }
    var daemon: KeychainStatus.Daemon? {
        KeychainStatus.Daemon(process: getpid(), isOnDemand: server.provider.endsWhenIdle)
    }
    var auditLog: AuditLog? { get throws(KeychainError) { try keychain.audit } }

    var registry: any KeychainRegistry { get throws(KeychainError) { try server.provider.registry(of: user) } }

    var rescue: any KeychainRescue { server.provider.rescue(of: target) }

    /// Has the next use open the keychain again, because it may open now.
    func forgetFailedOpening() {
        if case .failure? = opening { opening = nil }
    }

    func openSpool() throws(KeychainError) -> Spool? {
        let keychain = try keychain
        guard let home = keychain.home else {
            throw KeychainError(.notAvailable, "a keychain in memory cannot be backed up or restored")
        }
        return try Spool(in: home.stateDirectory, charge: keychain.account?.charge(inTransit: true))
    }

    // MARK: The caller

    func callerFacts() throws(KeychainError) -> [CallerReport.Fact] {
        handler.fixed == nil ? try handler.caller.facts() : []
    }

    /// Denies the operation if the caller has no right to it.
    func requireAccess(_ traits: OperationTraits) throws(KeychainError) {
        try policy.decision(
            on: traits, by: caller, mayHoldAttestedItems: server.reader.canAttest(processesOf: user)
        ).require()
    }

    func accessCheck(_ traits: OperationTraits) throws(KeychainError)
        -> @Sendable () throws(KeychainError) -> Void
    {
        { [policy = try policy, reader = server.reader, caller, user] () throws(KeychainError) in
            try policy.decision(
                on: traits, by: caller, mayHoldAttestedItems: reader.canAttest(processesOf: user)
            ).require()
        }
    }

    func requireAccess(toSecretsIn groups: [AccessGroup]?) throws(KeychainError) {
        let service = try service
        let decision = try policy.decision(
            onSecretsIn: groups, by: caller,
            hasPasscode: { () throws(KeychainError) in try service.lock.status().hasPasscode })
        do throws(KeychainError) {
            try decision.require()
        } catch {
            refusal = error
            throw error
        }
    }

    var mayNeedPasscode: Bool { get throws(KeychainError) { try policy.mayNeedPasscode(caller) } }

    private var policy: AccessPolicy {
        get throws(KeychainError) {
            if case .success(let opened)? = opening {
                return AccessPolicy(mode: opened.mode, knowsPasscode: opened.knowsPasscode)
            }
            // A recovery must also work for a keychain that cannot be opened.
            return AccessPolicy(mode: try server.provider.modeAndHome(for: target).mode, knowsPasscode: false)
        }
    }

    // MARK: Limited resources

    func acquire(_ resource: LimitedResource) -> OperationPermit? {
        if let held = handler.permits.search(resource) { return held }
        let permit = limiter(of: resource).acquire(for: user, timeout: resource.isWaitedFor ? server.limits.timeout : 0)
        // A request that searches several keychains needs one share.
        if let permit, resource.isSearch { handler.permits.holdSearch(permit, resource) }
        return permit
    }

    func hold(_ permit: OperationPermit) { handler.permits.hold(permit) }

    func limit(of resource: LimitedResource) -> Int { limiter(of: resource).count }

    private func limiter(of resource: LimitedResource) -> ConcurrencyLimiter {
        switch resource {
        case .search: server.shared.searches
        case .multiItemSearch: server.shared.multiItemSearches
        case .spool: server.shared.spools
        case .fileStore: server.shared.fileStores
        case .logReading: server.shared.logReadings
        case .keyUse: server.shared.keyUses
        case .watcher: server.shared.watchers
        case .session: server.sessions
        }
    }

    var maxResultSize: Int? { server.limits.memoryPerUser }

    func slow<Value: Sendable>(
        _ kind: SlowWorkKind, _ body: @escaping @Sendable () throws(KeychainError) -> Value
    ) throws(KeychainError) -> Value {
        let (server, socket) = (server, handler.channel.socket)
        return try server.shared.slowWork.run(
            kind, for: user, isAbandoned: { socket.isHungUp || server.isCancelling }, body)
    }

    func evaluating<Value>(
        _ body: (any EvaluationHost) throws(KeychainError) -> Value
    ) throws(KeychainError) -> Value {
        let evaluation = ClientEvaluation(server: server, socket: handler.channel.socket, user: user)
        return try evaluation.watching { () throws(KeychainError) in try body(evaluation) }
    }

    // MARK: The client

    var progress: ChangeProgress { exchange.progress }

    var sendsParts: Bool { true }

    func send(_ content: some ResponseContent) -> Bool {
        do throws(KeychainError) {
            try exchange.take?(content)
            return true
        } catch {
            return false
        }
    }

    func restart() throws(KeychainError) {
        throw KeychainError(.notAvailable, "the keychain was changed while its items were sent", hint: "try again")
    }

    var isConnected: Bool { !handler.channel.socket.isHungUp }

    func awaits(_ signal: WakeSignal) -> Bool {
        let socket = handler.channel.socket
        guard !socket.isStale else { return false }
        socket.waitForPeer(or: signal)
        return !socket.isStale
    }

    func next<Part: KeychainOperation>(_ type: Part.Type, _ noun: String) throws(KeychainError) -> Part {
        try reply.next(type, noun)
    }

    // MARK: Questions

    func registerAgent() throws(KeychainError) -> any AgentRegistration {
        let desk = try agents
        let socket = handler.channel.socket
        return DeskRegistration(desk: desk, agent: try desk.register(process) { !socket.isStale })
    }

    func answerQuestion(_ number: UInt64, with outcome: PresenceOutcome) throws(KeychainError) {
        try agents.answer(number, with: outcome, from: process)
    }

    private var agents: AgentDesk {
        get throws(KeychainError) {
            guard let desk = server.shared.agents else {
                throw KeychainError(
                    .notAvailable, "this latchkeyd needs no agent: it asks the person itself",
                    hint: "an agent is for the system's latchkeyd: systemctl status latchkeyd.socket")
            }
            return desk
        }
    }

    /// The process at the other end, as the kernel recorded it.
    private var process: CallerIdentity.ProcessIdentity {
        CallerIdentity.ProcessIdentity(user: user, process: handler.process)
    }

    // MARK: Sessions

    func reopen() throws(KeychainError) -> EmbeddedService { try keychain.reopen() }

    func startSession(
        _ service: EmbeddedService, knowsPasscode: Bool, permit: OperationPermit
    ) throws(KeychainError) {
        let keychain = try keychain
        let control = try receiveControl()
        let provider = SessionProvider(
            user: user, name: target.name, service: service, knowsPasscode: knowsPasscode, audit: keychain.audit,
            home: keychain.home,
            account: keychain.account, lease: keychain.lease)
        try start(provider, control, permit)
    }

    private func receiveControl() throws(KeychainError) -> Socket {
        let socket = handler.channel.socket
        do throws(SystemError) {
            socket.setTimeouts(receiving: FrameChannel.timeout)
            defer { socket.setTimeouts(receiving: 0) }
            if case .socket(let control) = try socket.receiveDescriptor() { return control }
        } catch {
            throw KeychainError(error)
        }
        throw KeychainError(.param, "a session needs a descriptor, and none was received")
    }

    private func start(
        _ provider: SessionProvider, _ control: Socket, _ permit: OperationPermit
    ) throws(KeychainError) {
        let connection = handler.connection
        do throws(SystemError) {
            let session = try KeychainServer(sessionOf: server, provider, permit: permit)
            // Added before the thread starts, because the thread may end immediately.
            connection.addSession(Connection.OpenSession(server: session, control: control))
            let isRunning = BackgroundThread.run { [weak connection, server] in
                session.serve(descriptorsFrom: control)
                // No further connections can arrive.
                session.stop(timeout: 5)
                connection?.drop(sessionOf: session)
                server.somethingHasEnded()
            }
            guard isRunning else {
                connection.drop(sessionOf: session)
                throw SystemError("start a thread", code: EAGAIN)
            }
        } catch {
            throw KeychainError(error)
        }
    }
}

extension LimitedResource {
    fileprivate var isSearch: Bool { self == .search || self == .multiItemSearch }

    /// Whether a request waits for its share, instead of being refused immediately.
    fileprivate var isWaitedFor: Bool {
        switch self {
        case .search, .multiItemSearch, .logReading, .keyUse, .fileStore: true
        case .spool, .watcher, .session: false
        }
    }
}

extension SearchList {
    /// The keychains as one, for observers and not for requests.
    fileprivate var services: SearchedKeychains {
        SearchedKeychains(
            members.mapValues { opened in opened.map { $0.service as any KeychainService } }, search: search,
            defaultKeychain: defaultKeychain)
    }
}
