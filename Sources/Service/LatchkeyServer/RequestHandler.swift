// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import KeychainModel
internal import LatchkeyProtocol
internal import LatchkeyService
internal import LinuxSystem
internal import Logging
internal import SecretMemory

/// Answers one request of a connection: reads the caller's identity again, lets the service decide,
/// and records the decision in the audit log.
struct RequestHandler {
    let server: KeychainServer
    let channel: FrameChannel
    let decoder: RequestDecoder
    let caller: ConnectedCaller
    /// The caller, instead of the one that the kernel reports; for tests.
    let fixed: CallerIdentity?
    let user: UInt32
    let process: Int32
    let connection: Connection
    /// The permits that the request holds until it is answered.
    private let permits = HeldPermits()

    init(
        server: KeychainServer, channel: FrameChannel, decoder: RequestDecoder, caller: ConnectedCaller,
        fixed: CallerIdentity?, user: UInt32, process: Int32, connection: Connection
    ) {
        (self.server, self.channel, self.decoder, self.caller, self.fixed) = (server, channel, decoder, caller, fixed)
        (self.user, self.process, self.connection) = (user, process, connection)
    }

    /// Processes the request; the response is then delivered.
    func respond(to numbered: NumberedRequest) -> DeliverableResponse {
        let reply = Reply(channel: channel, decoder: decoder, number: numbered.number)
        let request = numbered.request
        guard request.isChange else {
            return DeliverableResponse(handler: self, response: decide(request, reply), reply: reply)
        }
        let token = IdempotencyCache.Token(user: user, bytes: numbered.token)
        let response = server.changes.perform(token, request) { decide(request, reply) }
        return DeliverableResponse(handler: self, response: response, reply: reply)
    }

    /// Returns the response to the request, after recording it in the audit log.
    private func decide(_ request: Request, _ reply: Reply) -> Response {
        do throws(KeychainError) {
            var identity: CallerIdentity
            if let fixed { identity = fixed } else { identity = try caller.identity() }
            if identity.process == nil {
                identity.process = CallerIdentity.ProcessIdentity(user: user, process: process)
            }
            // A recovery must also work for a keychain that cannot be opened.
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

    /// Denies an operation on the whole keychain if the caller has no right to it.
    private func authorize(_ request: Request, _ identity: CallerIdentity, in mode: KeychainStatus.Mode)
        throws(KeychainError)
    {
        // Locking a session affects nothing outside of it.
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
            // A successful lookup does not wait until its line is written; changes and refusals do.
            if case .copyMatching = request, entry.status == .success {
                try audit.appendSoon(entry)
            } else {
                try audit.append(entry)
            }
        } catch {
            // The operation is done and must be acknowledged. The next request is refused until
            // lines can be written again.
            server.log.error("cannot write to the audit log", metadata: ["reason": "\(error.problem)"])
        }
    }

    /// Sends the response, a long one in parts, within the memory budget of the client. Then it
    /// releases the request's permits.
    fileprivate func deliver(_ response: Response, _ reply: Reply) throws(WireError) {
        defer { permits.release() }
        guard case .records(let records, let damaged, _) = response else { return try reply.send(response) }
        let size = records.reduce(0) { $0 + $1.weight }
        let reservation =
            size > Self.partSize
            ? server.shared.budget.reserve(size, for: MemoryBudget.MemoryConsumer(user: user, process: process)) : nil
        guard size <= Self.partSize || reservation != nil else {
            return try reply.send(
                .failure(
                    KeychainError(
                        .allocate, "too many large results are being sent to this user",
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

    /// The approximate length of the results in one frame, in bytes.
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
                .param, "unexpected request: a connection starts with one hello")
        case .add(let item): return .record(try service.add(item, from: identity))
        case .addIdentities(let identities): return .count(try service.addIdentities(identities, from: identity))
        case .copyMatching(let query, let returning):
            let found = try search(service, query, returning, identity)
            if returning.contains(.data) {
                try requirePasscode(keychain, identity, toRead: found.records.map(\.accessGroup))
            }
            return .records(found.records, damaged: found.damaged, moreFollows: false)
        case .update(let query, let update):
            // Items that are moved can be read in the group that they are moved to.
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
        case .piece: throw KeychainError(.param, "unexpected piece of a backup")
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
                    .notAvailable, "too many concurrent key operations of this user",
                    hint: "use fewer threads at a time, or try again")
            }
            defer { withExtendedLifetime(permit) {} }
            return .keyOutput(try service.useKey(reference, use, on: input, from: identity))
        case .exportKey(let reference):
            try requirePasscode(keychain, identity, toUse: reference)
            return .keyOutput(try service.exportKey(reference, from: identity))
        }
    }

    /// Searches for items. The number of concurrent searches is limited, because results are in
    /// memory before their size is known and until they are sent.
    private func search(
        _ service: any KeychainService, _ query: ItemQuery, _ returning: ReturnTypes, _ identity: CallerIdentity
    ) throws(KeychainError) -> ItemMatches {
        let isMultiItem = (query.limit ?? .one) != .one
        if isMultiItem || returning.contains(.data) {
            let limiter = isMultiItem ? server.shared.multiItemSearches : server.shared.searches
            guard let permit = limiter.acquire(for: user, timeout: server.limits.timeout) else {
                throw KeychainError(
                    .allocate, "too many large searches of this user are in progress",
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

    /// - Parameter groups: nil for all groups.
    private func requirePasscode(
        _ keychain: ServedKeychain, _ identity: CallerIdentity, toRead groups: [AccessGroup]?
    ) throws(KeychainError) {
        guard !keychain.knowsPasscode, EmbeddedService.needsPasscode(identity, toReadSecretsOf: groups) else { return }
        guard try keychain.service.lockStatus().hasPasscode else { return }
        throw KeychainError(
            .interactionNotAllowed,
            "these items belong to other programs: commands can read them only with the passcode",
            hint:
                "give it to the command: latchkey with-passcode -- COMMAND, --passcode-file FILE, or LATCHKEY_PASSCODE_FILE"
        )
    }

    /// Requires the passcode for using a key, because the result of a decryption or key agreement
    /// is as secret as the key.
    private func requirePasscode(
        _ keychain: ServedKeychain, _ identity: CallerIdentity, toUse reference: PersistentReference
    ) throws(KeychainError) {
        guard identity.isUserCommand else { return }
        let key = ItemQuery(nil, synchronizable: .any, persistentReference: reference)
        let found = try keychain.service.copyMatching(key, returning: .attributes, from: identity)
        try requirePasscode(keychain, identity, toRead: found.records.map(\.accessGroup))
    }

    /// Runs a slow operation on the server's pool, until the client disconnects or the server is
    /// stopped.
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

    /// The state of the lock, with the programs that gave wrong passcodes. A program in a sandbox
    /// gets no information about other programs.
    private func lockStatus(_ keychain: ServedKeychain, _ identity: CallerIdentity) throws(KeychainError) -> LockStatus
    {
        var status = try keychain.service.lockStatus()
        guard status.wrongPasscodes > 0, identity.sandbox == nil, let audit = keychain.audit else { return status }
        // The state of the lock is reported even if the log cannot be read.
        status.guesses = (try? audit.passcodeGuesses()) ?? []
        return status
    }

    /// Sends every new state of the lock, until the client disconnects.
    private func watch(_ service: any KeychainService, _ reply: Reply) throws(KeychainError) -> Response {
        guard let permit = server.shared.watchers.acquire(for: user, timeout: 0) else {
            throw KeychainError(
                .notAvailable, "this user has \(server.limits.watchersPerUser) lock watchers, which is the maximum")
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

/// The response to one request, before it is sent.
struct DeliverableResponse {
    fileprivate let handler: RequestHandler
    fileprivate let response: Response
    fileprivate let reply: Reply

    func deliver() throws(WireError) { try handler.deliver(response, reply) }
}

extension ItemRecord {
    /// The approximate size of the record, in bytes.
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
