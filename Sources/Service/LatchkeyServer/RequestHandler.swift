// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyOperations
internal import LatchkeyProtocol
internal import LatchkeyService
internal import LinuxSystem
internal import Logging

/// Answers one request of a connection: reads the caller's identity again, lets the policy and the
/// operation decide, and records the decision in the audit log.
struct RequestHandler {
    let server: KeychainServer
    let channel: FrameChannel
    let decoder: RequestDecoder
    let caller: ConnectedCaller
    /// The caller, instead of the one that the kernel reports; for tests.
    let fixed: CallerIdentity?
    let user: UInt32
    /// The user's keychain that the connection is for; nil for those of the search list.
    let name: KeychainName?
    let process: Int32
    let connection: Connection
    /// The permits that the request holds until it is answered.
    let permits = HeldPermits()

    init(
        server: KeychainServer, channel: FrameChannel, decoder: RequestDecoder, caller: ConnectedCaller,
        fixed: CallerIdentity?, user: UInt32, name: KeychainName?, process: Int32, connection: Connection
    ) {
        (self.server, self.channel, self.decoder, self.caller, self.fixed) = (server, channel, decoder, caller, fixed)
        (self.user, self.name, self.process, self.connection) = (user, name, process, connection)
    }

    /// Processes the request; the response is then delivered.
    func respond(to numbered: NumberedRequest) -> DeliverableResponse {
        let reply = Reply(channel: channel, decoder: decoder, number: numbered.number)
        let response = response(to: numbered.operation, token: numbered.token, reply)
        return DeliverableResponse(handler: self, response: response, reply: reply)
    }

    private func response<Operation: KeychainOperation>(
        to operation: Operation, token: [UInt8], _ reply: Reply
    ) -> Response {
        guard Operation.traits.contains(.changes) else { return Response(decide(operation, reply)) }
        let token = IdempotencyCache.Token(user: user, bytes: token)
        return server.changes.perform(token, operation) { decide(operation, reply) }
    }

    /// Performs the operation, and records it in the audit log.
    private func decide<Operation: KeychainOperation>(
        _ operation: Operation, _ reply: Reply
    ) -> Result<Operation.Answer, KeychainError> {
        do throws(KeychainError) {
            let context = RequestContext(handler: self, caller: try identity(), reply: reply)
            let traits = Operation.traits
            if !traits.contains(.worksWithoutKeychain) { _ = try context.keychain }
            if !traits.contains(.worksWithoutLog) {
                for log in (try? context.keychain)?.possibleLogs ?? [] { try log.requireWritable() }
            }
            let outcome = Result { () throws(KeychainError) in
                try context.requireAccess(Operation.traits)
                let answer = try context.perform(operation)
                if answer.isEmpty, operation.nothing != nil { throw .itemNotFound }
                return answer
            }
            record(operation, outcome, context)
            return outcome
        } catch {
            return .failure(error)
        }
    }

    private func identity() throws(KeychainError) -> CallerIdentity {
        var identity: CallerIdentity
        if let fixed { identity = fixed } else { identity = try caller.identity() }
        if identity.process == nil {
            identity.process = CallerIdentity.ProcessIdentity(user: user, process: process)
        }
        return identity
    }

    private func record<Operation: KeychainOperation>(
        _ operation: Operation, _ outcome: Result<Operation.Answer, KeychainError>, _ context: RequestContext
    ) {
        if Operation.traits.contains(.changes) { context.forgetFailedOpening() }
        guard let details = operation.audit else { return }
        let entry = AuditEntry(details, outcome, by: context.caller)
        for log in context.usedLogs { append(entry, isDeferred: details.isDeferred, to: log) }
    }

    private func append(_ entry: AuditEntry, isDeferred: Bool, to log: AuditLog) {
        do throws(KeychainError) {
            // A successful lookup does not wait until its line is written; changes and refusals do.
            if isDeferred, entry.status == .success {
                try log.appendSoon(entry)
            } else {
                try log.append(entry)
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
        guard case .content(let content) = response else { return try reply.send(response) }
        let weight = content.weight
        let reservation =
            weight > ResponsePart.maxLength
            ? server.shared.budget.reserve(weight, for: MemoryBudget.MemoryConsumer(user: user, process: process))
            : nil
        guard weight <= ResponsePart.maxLength || reservation != nil else {
            return try reply.send(
                .failure(
                    KeychainError(
                        .allocate, "too many large results are being sent to this user",
                        hint: "ask for fewer items at a time"))
            )
        }
        defer { withExtendedLifetime(reservation) {} }
        try content.forEachPart { (part) throws(WireError) in try reply.send(.content(part)) }
    }
}

/// The response to one request, before it is sent.
struct DeliverableResponse {
    fileprivate let handler: RequestHandler
    fileprivate let response: Response
    fileprivate let reply: Reply

    func deliver() throws(WireError) { try handler.deliver(response, reply) }
}
