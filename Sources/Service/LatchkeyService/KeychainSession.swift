// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
internal import Presence
public import SecretMemory

/// A keychain as one caller uses it: the service, with the caller filled in.
///
/// It adds no rules; the service decides about every request. A call that needs the person asks, if
/// its ``Authentication`` allows it. The operations throw what those of ``KeychainService`` with the
/// same names throw.
public struct KeychainSession: Sendable {
    public let service: any KeychainService
    public let caller: CallerIdentity
    /// Where the person can be asked for the caller.
    let place: @Sendable () -> PromptPlace

    /// - Parameter place: where the person can be asked; nil for the place of this process.
    public init(
        _ service: any KeychainService, as caller: CallerIdentity,
        promptingAt place: (@Sendable () -> PromptPlace)? = nil
    ) {
        self.service = service
        self.caller = caller
        self.place = place ?? { PromptPlace.ofThisProcess() }
    }

    /// Returns the same caller's use of another keychain.
    public func replacing(_ service: any KeychainService) -> KeychainSession {
        KeychainSession(service, as: caller, promptingAt: place)
    }
}

// MARK: Items

extension KeychainSession {
    public func add(_ item: ItemAddition) throws(KeychainError) -> ItemRecord {
        try prompting(item.authentication) { (authentication) throws(KeychainError) in
            var item = item
            item.authentication = authentication
            return try service.add(item, from: caller)
        }
    }

    public func addIdentities(_ identities: [IdentityAddition]) throws(KeychainError) -> Int {
        try prompting(identities.first?.key.authentication ?? Authentication()) {
            (authentication) throws(KeychainError) in
            var identities = identities
            for index in identities.indices {
                identities[index].certificate.authentication = authentication
                identities[index].key.authentication = authentication
            }
            return try service.addIdentities(identities, from: caller)
        }
    }

    public func copyMatching(_ query: ItemQuery, returning: ReturnTypes) throws(KeychainError) -> ItemMatches {
        try prompting(query) { (query) throws(KeychainError) in
            try service.copyMatching(query, returning: returning, from: caller)
        }
    }

    /// Passes the matching items to `take` in parts, without asking the person.
    public func copyMatching(
        _ query: ItemQuery, returning: ReturnTypes, begin: () throws(KeychainError) -> Void,
        inParts take: (ItemMatches) throws(KeychainError) -> Void
    ) throws(KeychainError) {
        try service.copyMatching(query, returning: returning, from: caller, begin: begin, inParts: take)
    }

    public func copyIdentities(
        _ query: ItemQuery, returning: ReturnTypes
    ) throws(KeychainError) -> [IdentityRecord] {
        try prompting(query) { (query) throws(KeychainError) in
            try service.copyIdentities(query, returning: returning, from: caller)
        }
    }

    @discardableResult
    public func update(_ query: ItemQuery, with update: ItemUpdate) throws(KeychainError) -> Int {
        try prompting(query) { (query) throws(KeychainError) in
            try service.update(query, with: update, from: caller)
        }
    }

    @discardableResult
    public func delete(_ query: ItemQuery) throws(KeychainError) -> Int {
        try service.delete(query, from: caller)
    }

    private func prompting<Result>(
        _ query: ItemQuery, _ body: (ItemQuery) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        try prompting(query.authentication) { (authentication) throws(KeychainError) in
            var query = query
            query.authentication = authentication
            return try body(query)
        }
    }

    public func callerReport() throws(KeychainError) -> CallerReport {
        try service.callerReport(caller)
    }
}

// MARK: Keys

extension KeychainSession {
    public func generateKey(_ generation: KeyGeneration) throws(KeychainError) -> GeneratedKey {
        try prompting(generation.privateHalf.authentication) { (authentication) throws(KeychainError) in
            var generation = generation
            generation.privateHalf.authentication = authentication
            return try service.generateKey(generation, from: caller)
        }
    }

    public func publicKey(of reference: PersistentReference) throws(KeychainError) -> PublicKeyInfo {
        try service.publicKey(of: reference, from: caller)
    }

    public func useKey(
        _ reference: PersistentReference, _ use: PrivateKeyUse, on input: SharedSecret,
        authentication: Authentication = Authentication()
    ) throws(KeychainError) -> KeyOutput {
        try prompting(authentication) { (authentication) throws(KeychainError) in
            try service.useKey(reference, use, on: input, authentication: authentication, from: caller)
        }
    }

    public func exportKey(
        _ reference: PersistentReference, authentication: Authentication = Authentication()
    ) throws(KeychainError) -> KeyOutput {
        try prompting(authentication) { (authentication) throws(KeychainError) in
            try service.exportKey(reference, authentication: authentication, from: caller)
        }
    }
}

// MARK: Files

extension KeychainSession {
    public func createFileKey(
        _ protection: FileProtectionClass, group: String? = nil, withholdsKey: Bool = false
    ) throws(KeychainError) -> FileKey {
        try service.createFileKey(protection, group: group, withholdsKey: withholdsKey, from: caller)
    }

    public func openFileKey(_ record: FileKeyRecord) throws(KeychainError) -> SharedSecret {
        try service.openFileKey(record, from: caller)
    }

    public func rewrapFileKey(
        _ record: FileKeyRecord, for protection: FileProtectionClass? = nil, group: String? = nil
    ) throws(KeychainError) -> FileKeyRecord {
        try service.rewrapFileKey(record, for: protection, group: group, from: caller)
    }

    public func useFileKey(_ request: FilePartRequest) throws(KeychainError) -> FilePart {
        try service.useFileKey(request, from: caller)
    }
}

// MARK: Stored files

extension KeychainSession {
    public func storeFile(
        _ item: ItemAddition, replaces: Bool, from source: @escaping StoredFileSource
    ) throws(KeychainError) {
        try service.storeFile(item, replaces: replaces, from: source, caller: caller)
    }

    public func readStoredFile(
        _ query: ItemQuery, at offset: UInt64, count: Int, version: [UInt8]?
    ) throws(KeychainError) -> StoredFilePart {
        try service.readStoredFile(query, at: offset, count: count, version: version, from: caller)
    }
}

// MARK: The whole keychain

extension KeychainSession {
    public func status() throws(KeychainError) -> KeychainStatus { try service.status() }

    public func check(progress: (Int) -> Void) throws(KeychainError) -> [KeychainFinding] {
        try service.check(progress: progress)
    }

    public func repair(_ action: RepairAction, dryRun: Bool, progress: (Int) -> Void) throws(KeychainError) -> Int {
        try service.repair(action, dryRun: dryRun, progress: progress)
    }

    public func checkpoint() throws(KeychainError) { try service.checkpoint() }

    public func auditLines(
        after sequence: UInt64, since: Double?, _ body: ([String]) -> Bool
    ) throws(KeychainError) -> UInt64 {
        try service.auditLines(after: sequence, since: since, body)
    }

    public func verifyAudit() throws(KeychainError) -> AuditVerification { try service.verifyAudit() }
}
