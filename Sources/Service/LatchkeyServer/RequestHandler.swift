// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import KeychainModel
internal import LatchkeyProtocol
internal import LatchkeyService
internal import LinuxSystem
internal import Logging
internal import SecretMemory

/// Answers one request of a connection: who asks is read anew, the service decides, and what it decided is written down.
struct RequestHandler {
    let server: KeychainServer
    let channel: FrameChannel
    let caller: ConnectedCaller
    /// Who is calling, where the kernel is not asked.
    let fixed: CallerIdentity?
    let user: UInt32
    let process: Int32
    let connection: Connection
    /// What the request has taken of its user's share until it is answered.
    private let permits = HeldPermits()

    init(
        server: KeychainServer, channel: FrameChannel, caller: ConnectedCaller, fixed: CallerIdentity?, user: UInt32,
        process: Int32,
        connection: Connection
    ) {
        (self.server, self.channel, self.caller, self.fixed) = (server, channel, caller, fixed)
        (self.user, self.process, self.connection) = (user, process, connection)
    }

    func answer(_ numbered: NumberedRequest) throws(WireError) {
        defer { permits.release() }
        let reply = Reply(channel: channel, number: numbered.number)
        let request = numbered.request
        guard request.isChange else { return try deliver(decide(request, reply), reply) }
        let token = IdempotencyCache.Token(user: user, bytes: numbered.token)
        try deliver(server.changes.perform(token, request) { decide(request, reply) }, reply)
    }

    /// What comes of the request, which is then also in the log.
    private func decide(_ request: Request, _ reply: Reply) -> Response {
        do throws(KeychainError) {
            var identity: CallerIdentity
            if let fixed { identity = fixed } else { identity = try caller.identity() }
            if identity.process == nil {
                identity.process = CallerIdentity.ProcessIdentity(user: user, process: process)
            }
            // A recovery is also for a keychain that does not open.
            if case .recover(let key, let newPasscode) = request { return recover(request, key, newPasscode, identity) }
            let keychain = try server.provider.keychain(of: user)
            if request.needsLog { try keychain.audit?.requireWritable() }
            let response: Response
            do throws(KeychainError) {
                try authorize(request, identity, in: keychain.mode)
                response = try perform(request, in: keychain, identity, reply)
            } catch {
                response = .failure(error)
            }
            record(request, response, identity, in: keychain)
            return response
        } catch {
            return .failure(error)
        }
    }

    /// Refuses what is about the keychain as a whole, where the caller has no right to that.
    private func authorize(_ request: Request, _ identity: CallerIdentity, in mode: KeychainStatus.Mode)
        throws(KeychainError)
    {
        // The lock of a session closes nothing outside of it.
        if case .lock = request, mode == .session { return }
        let accessesAttestedGroups = request.accessesAllGroups && server.reader.canAttest(processesOf: user)
        if request.isAdministrative {
            try EmbeddedService.requireAdministrator(identity, accessesAttestedGroups: accessesAttestedGroups)
        } else if accessesAttestedGroups {
            try EmbeddedService.requireAttested(identity)
        }
    }

    private func recover(
        _ request: Request, _ key: SharedSecret, _ newPasscode: SharedSecret?, _ identity: CallerIdentity
    ) -> Response {
        let response: Response
        do throws(KeychainError) {
            try authorize(request, identity, in: try server.provider.modeAndHome(for: user).mode)
            let (provider, user) = (server.provider, user)
            response = try slow(.derivation) { () throws(KeychainError) in
                .count(try provider.recover(user, with: key, newPasscode: newPasscode))
            }
        } catch {
            response = .failure(error)
        }
        if let keychain = try? server.provider.keychain(of: user) { record(request, response, identity, in: keychain) }
        return response
    }

    private func record(
        _ request: Request, _ response: Response, _ identity: CallerIdentity, in keychain: ServedKeychain
    ) {
        guard let audit = keychain.audit, let entry = AuditEntry(request, response, identity) else { return }
        do throws(KeychainError) {
            // A lookup need not wait for its line; what changes something, and what was refused, does.
            if case .copyMatching = request, entry.status == .success {
                try audit.appendSoon(entry)
            } else {
                try audit.append(entry)
            }
        } catch {
            // It is done, and has to be acknowledged; the next request is refused until lines can be written again.
            server.log.error("a decision could not be written down", metadata: ["reason": "\(error.problem)"])
        }
    }

    /// Sends the answer, what is long in parts, under the memory that the client may take up.
    private func deliver(_ response: Response, _ reply: Reply) throws(WireError) {
        guard case .records(let records, let damaged, _) = response else { return try reply.send(response) }
        let size = records.reduce(0) { $0 + $1.weight }
        let reservation =
            size > Self.partSize
            ? server.shared.budget.reserve(size, for: MemoryBudget.MemoryConsumer(user: user, process: process)) : nil
        guard size <= Self.partSize || reservation != nil else {
            return try reply.send(
                .failure(
                    KeychainError(
                        .allocate, "too many large results are on their way to this user",
                        hint: "ask for fewer items at a time"))
            )
        }
        defer { withExtendedLifetime(reservation) {} }
        var (start, weight, secrets) = (0, 0, 0)
        for (index, record) in records.enumerated() {
            let own = record.weight
            if index > start, weight + own > Self.partSize || secrets + record.secretCount > Self.partSecrets {
                try reply.send(.records(Array(records[start..<index]), damaged: 0, moreFollows: true))
                (start, weight, secrets) = (index, 0, 0)
            }
            (weight, secrets) = (weight + own, secrets + record.secretCount)
        }
        try reply.send(.records(Array(records[start...]), damaged: damaged, moreFollows: false))
    }

    /// About how many bytes of results go into one frame.
    static let partSize = 256 << 10
    private static let partSecrets = 200

    // MARK: Operations

    private func perform(
        _ request: Request, in keychain: ServedKeychain, _ identity: CallerIdentity, _ reply: Reply
    ) throws(KeychainError) -> Response {
        let service = keychain.service
        switch request {
        case .hello, .recover:
            throw KeychainError(
                .param, "this is nothing to ask an open keychain for: a connection begins with one hello")
        case .add(let item): return .record(try service.add(item, from: identity))
        case .addIdentities(let identities): return .count(try service.addIdentities(identities, from: identity))
        case .copyMatching(let query, let returning):
            let found = try search(service, query, returning, identity)
            if returning.contains(.data) {
                try requirePasscode(keychain, identity, toRead: found.records.map(\.accessGroup))
            }
            return .records(found.records, damaged: found.damaged, moreFollows: false)
        case .update(let query, let update):
            // What is moved can be read where it comes to lie.
            if update.accessGroup != nil {
                try requirePasscode(
                    keychain, identity, toRead: query.accessGroup.map { [AccessGroup($0, grade: .claimed)] })
            }
            return .count(try service.update(query, with: update, from: identity))
        case .delete(let query): return .count(try service.delete(query, from: identity))
        case .status: return .status(try status(keychain))
        case .check:
            return try slow(.computation) { () throws(KeychainError) in
                .findings(try service.check { reply.progress($0, 0) })
            }
        case .repair(let action, let dryRun):
            return try slow(.computation) { () throws(KeychainError) in
                .count(try service.repair(action, dryRun: dryRun) { reply.progress($0, 0) })
            }
        case .checkpoint: return try done { () throws(KeychainError) in try service.checkpoint() }
        case .who: return .caller(EmbeddedService.report(identity, facts: fixed == nil ? try caller.facts() : []))
        case .lockStatus: return .lockStatus(try lockStatus(keychain, identity))
        case .unlock(let passcode):
            return try slow(.derivation) { () throws(KeychainError) in
                try service.unlock(passcode, progress: reply.progress)
                return .done
            }
        case .lock(let immediately):
            return try done { () throws(KeychainError) in try service.lock(immediately: immediately) }
        case .watchLock: return try watch(service, reply)
        case .setPasscode(let new):
            return try slow(.derivation) { () throws(KeychainError) in
                try service.setPasscode(new, progress: reply.progress)
                return .done
            }
        case .changePasscode(let old, let new, let rotates):
            return try slow(.derivation) { () throws(KeychainError) in
                try service.changePasscode(from: old, to: new, rotates: rotates, progress: reply.progress)
                return .done
            }
        case .removePasscode(let passcode):
            return try slow(.derivation) { () throws(KeychainError) in
                .count(try service.removePasscode(passcode, progress: reply.progress))
            }
        case .createRecoveryKey(let passcode):
            return try slow(.derivation) { () throws(KeychainError) in .secret(try service.createRecoveryKey(passcode))
            }
        case .removeRecoveryKey(let passcode):
            return try slow(.derivation) { () throws(KeychainError) in
                .count(try service.removeRecoveryKey(passcode) ? 1 : 0)
            }
        case .changeSettings(let settings, let passcode):
            return try slow(.derivation) { () throws(KeychainError) in
                try service.changeSettings(to: settings, passcode)
                return .done
            }
        case .backup(let passphrase, let passcode, let includesNonExtractable):
            return try backup(keychain, passphrase, passcode, includesNonExtractable: includesNonExtractable, reply)
        case .recordBackup:
            service.recordBackup()
            return .done
        case .restore(let passphrase, let passcode, let merges, let dryRun):
            return try restore(keychain, passphrase, passcode, merges: merges, dryRun: dryRun, identity, reply)
        case .piece: throw KeychainError(.param, "a piece of a backup came, and nobody waits for one")
        case .readLog(let after, let since): return try readLog(keychain, after, since, reply)
        case .verifyLog: return try verifyLog(keychain)
        case .openSession(let passcode): return try openSession(keychain, passcode, reply)
        case .generateKey(let generation) where generation.kind.type == .rsa:
            return try slow(.computation) { () throws(KeychainError) in
                .generatedKey(try service.generateKey(generation, from: identity))
            }
        case .generateKey(let generation): return .generatedKey(try service.generateKey(generation, from: identity))
        case .publicKey(let reference): return .publicKey(try service.publicKey(of: reference, from: identity))
        case .useKey(let reference, let use, let input):
            try requirePasscode(keychain, identity, toUse: reference)
            guard let permit = server.shared.keyUses.acquire(for: user, timeout: server.limits.timeout) else {
                throw KeychainError(
                    .notAvailable, "too many keys of this user are at work",
                    hint: "use fewer threads at a time, or try again")
            }
            defer { withExtendedLifetime(permit) {} }
            return .keyOutput(try service.useKey(reference, use, on: input, from: identity))
        case .exportKey(let reference):
            try requirePasscode(keychain, identity, toUse: reference)
            return .keyOutput(try service.exportKey(reference, from: identity))
        }
    }

    /// Few searches at a time hold results: they are in memory before their size is known, and until they are sent.
    private func search(
        _ service: any KeychainService, _ query: ItemQuery, _ returning: ReturnTypes, _ identity: CallerIdentity
    ) throws(KeychainError) -> ItemMatches {
        let isMultiItem = (query.limit ?? .one) != .one
        if isMultiItem || returning.contains(.data) {
            let limiter = isMultiItem ? server.shared.multiItemSearches : server.shared.searches
            guard let permit = limiter.acquire(for: user, timeout: server.limits.timeout) else {
                throw KeychainError(
                    .allocate, "too many large searches of this user are under way",
                    hint: "ask for fewer items at a time, or try again")
            }
            permits.hold(permit)
        }
        let limit = server.limits.memoryPerUser
        let outcome = ResultLimit.$current.withValue(limit) {
            Result { () throws(KeychainError) in try service.copyMatching(query, returning: returning, from: identity) }
        }
        return try outcome.get()
    }

    /// - Parameter groups: nil for whichever there are.
    private func requirePasscode(
        _ keychain: ServedKeychain, _ identity: CallerIdentity, toRead groups: [AccessGroup]?
    ) throws(KeychainError) {
        guard !keychain.knowsPasscode, EmbeddedService.needsPasscode(identity, toReadSecretsOf: groups) else { return }
        guard try keychain.service.lockStatus().hasPasscode else { return }
        throw KeychainError(
            .interactionNotAllowed,
            "these items are other programs' own, and shown to commands only against the passcode",
            hint:
                "give it to the command: latchkey with-passcode -- COMMAND, --passcode-file FILE, or LATCHKEY_PASSCODE_FILE"
        )
    }

    /// What a key has decrypted, or agreed on, is as secret as the key.
    private func requirePasscode(
        _ keychain: ServedKeychain, _ identity: CallerIdentity, toUse reference: PersistentReference
    ) throws(KeychainError) {
        guard identity.isUserCommand else { return }
        let key = ItemQuery(nil, synchronizable: .any, persistentReference: reference)
        let found = try keychain.service.copyMatching(key, returning: .attributes, from: identity)
        try requirePasscode(keychain, identity, toRead: found.records.map(\.accessGroup))
    }

    /// Runs what takes long on the server's pool, as long as the client is there and the server wants its result.
    func slow<Value: Sendable>(
        _ kind: SlowWork.Kind, _ body: @escaping @Sendable () throws(KeychainError) -> Value
    ) throws(KeychainError) -> Value {
        try server.shared.slowWork.run(
            kind, for: user, isAbandoned: { channel.socket.isHungUp || server.isCancelling }, body)
    }

    private func done(_ body: () throws(KeychainError) -> Void) throws(KeychainError) -> Response {
        try body()
        return .done
    }

    private func status(_ keychain: ServedKeychain) throws(KeychainError) -> KeychainStatus {
        var status = try keychain.service.status()
        status.mode = keychain.mode
        status.hasAuditLog = keychain.audit != nil
        return status
    }

    /// The state of the lock, with the programs that gave wrong passcodes. A program in a sandbox is not told of others.
    private func lockStatus(_ keychain: ServedKeychain, _ identity: CallerIdentity) throws(KeychainError) -> LockStatus
    {
        var status = try keychain.service.lockStatus()
        guard status.wrongPasscodes > 0, identity.sandbox == nil, let audit = keychain.audit else { return status }
        // A log that cannot be read is no reason to say nothing of the lock.
        status.guesses = (try? audit.passcodeGuesses()) ?? []
        return status
    }

    /// Sends every new state of the lock, until the client goes.
    private func watch(_ service: any KeychainService, _ reply: Reply) throws(KeychainError) -> Response {
        guard let permit = server.shared.watchers.acquire(for: user, timeout: 0) else {
            throw KeychainError(
                .notAvailable, "this user watches the lock \(server.limits.watchersPerUser) times already")
        }
        defer { withExtendedLifetime(permit) {} }
        let states = BoundedMailbox<LockState>()
        let observer = service.addLockObserver { states.put($0) }
        defer { service.removeLockObserver(observer) }
        var isConnected = reply.trySend(.lockState(try service.lockStatus().state))
        while isConnected, !channel.socket.isStale {
            for state in states.take(waitingMilliseconds: 500) where isConnected {
                isConnected = reply.trySend(.lockState(state))
            }
        }
        return .done
    }
}

extension ItemRecord {
    /// About how many bytes the record takes.
    fileprivate var weight: Int {
        var weight = 256 + addedBy.utf8.count + attributes.values.reduce(0) { $0 + 16 + $1.approximateSize }
        if let secrets { weight += (secrets.data?.count ?? 0) + secrets.attributes.values.reduce(0) { $0 + $1.count } }
        return weight
    }

    fileprivate var secretCount: Int {
        guard let secrets else { return 0 }
        return (secrets.data == nil ? 0 : 1) + secrets.attributes.count
    }
}

extension AttributeValue {
    fileprivate var approximateSize: Int {
        switch self {
        case .string(let text): text.utf8.count
        case .data(let bytes): bytes.count
        case .number, .date: 8
        }
    }
}
