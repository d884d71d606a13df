// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
internal import LatchkeyProtocol
package import LatchkeyService
package import LinuxSystem
package import SecretMemory
internal import Synchronization

/// The keychain that a daemon holds. The daemon determines the caller itself.
package final class DaemonService: KeychainService {
    let client: DaemonClient
    private let observers = Mutex<(next: Int, watches: [Int: LockStateObserver])>((0, [:]))

    private let claim: @Sendable () -> CallerIdentity
    private let automaticUnlock: AutomaticUnlock
    private let ownSession = Mutex<OwnSession?>(nil)

    /// - Parameters:
    ///   - claim: the identity that this program claims, for what the daemon cannot determine.
    ///   - automaticPasscode: the source of the passcode, called once when items are locked; nil if
    ///     there is no source.
    package init(
        _ connector: any DaemonConnector, claim: @escaping @Sendable () -> CallerIdentity,
        automaticPasscode: @escaping AutomaticUnlock.Source = { () throws(KeychainError) in nil }
    ) {
        client = DaemonClient(connector, claim: claim)
        self.claim = claim
        automaticUnlock = AutomaticUnlock(automaticPasscode)
    }

    // MARK: Items

    package func add(_ item: ItemAddition, from caller: CallerIdentity) throws(KeychainError) -> ItemRecord {
        try withItems { (client) throws(KeychainError) in
            try Self.answer(.add(item), from: client) { if case .record(let record) = $0 { record } else { nil } }
        }
    }

    package func addIdentities(_ identities: [IdentityAddition], from caller: CallerIdentity) throws(KeychainError)
        -> Int
    {
        // The daemon would close the connection.
        try IdentityAddition.check(identities)
        return try withItems { (client) throws(KeychainError) in
            try Self.count(.addIdentities(identities), from: client)
        }
    }

    package func copyMatching(
        _ query: ItemQuery, returning: ReturnTypes, from caller: CallerIdentity
    ) throws(KeychainError) -> ItemMatches {
        try withItems { (client) throws(KeychainError) in
            var matches = ItemMatches(records: [], damaged: 0)
            // No part of the response is passed on before it is complete, so the request can be
            // repeated.
            let begin = { matches = ItemMatches(records: [], damaged: 0) }
            try client.perform(.copyMatching(query, returning: returning), begin: begin) {
                (response) throws(KeychainError) in
                guard case .records(let records, let damaged, let moreFollows) = response else { throw Self.unexpected }
                matches.records += records
                matches.damaged += damaged
                return !moreFollows
            }
            return matches
        }
    }

    @discardableResult
    package func update(_ query: ItemQuery, with update: ItemUpdate, from caller: CallerIdentity) throws(KeychainError)
        -> Int
    {
        try withItems { (client) throws(KeychainError) in try Self.count(.update(query, with: update), from: client) }
    }

    @discardableResult
    package func delete(_ query: ItemQuery, from caller: CallerIdentity) throws(KeychainError) -> Int {
        try withItems { (client) throws(KeychainError) in try Self.count(.delete(query), from: client) }
    }

    // MARK: Keys

    package func generateKey(_ generation: KeyGeneration, from caller: CallerIdentity) throws(KeychainError)
        -> GeneratedKey
    {
        try withItems { (client) throws(KeychainError) in
            try Self.answer(.generateKey(generation), from: client) {
                if case .generatedKey(let key) = $0 { key } else { nil }
            }
        }
    }

    package func publicKey(of reference: PersistentReference, from caller: CallerIdentity) throws(KeychainError)
        -> PublicKeyInfo
    {
        try withItems { (client) throws(KeychainError) in
            try Self.answer(.publicKey(of: reference), from: client) {
                if case .publicKey(let info) = $0 { info } else { nil }
            }
        }
    }

    package func useKey(
        _ reference: PersistentReference, _ use: PrivateKeyUse, on input: SharedSecret, from caller: CallerIdentity
    ) throws(KeychainError) -> KeyOutput {
        try keyOutput(.useKey(reference, use, on: input))
    }

    package func exportKey(_ reference: PersistentReference, from caller: CallerIdentity) throws(KeychainError)
        -> KeyOutput
    {
        try keyOutput(.exportKey(reference))
    }

    private func keyOutput(_ request: Request) throws(KeychainError) -> KeyOutput {
        try withItems { (client) throws(KeychainError) in
            try Self.answer(request, from: client) { if case .keyOutput(let output) = $0 { output } else { nil } }
        }
    }

    // MARK: The keychain itself

    package func status() throws(KeychainError) -> KeychainStatus {
        try answer(.status) { if case .status(let status) = $0 { status } else { nil } }
    }

    package func check(progress: (Int) -> Void) throws(KeychainError) -> [KeychainFinding] {
        try answer(.check, { done, _ in progress(done) }) {
            if case .findings(let findings) = $0 { findings } else { nil }
        }
    }

    package func repair(_ action: RepairAction, dryRun: Bool, progress: (Int) -> Void) throws(KeychainError) -> Int {
        try count(.repair(action, dryRun: dryRun)) { done, _ in progress(done) }
    }

    package func checkpoint() throws(KeychainError) { try done(.checkpoint) }

    package func callerReport(_ caller: CallerIdentity) throws(KeychainError) -> CallerReport {
        try answer(.who) { if case .caller(let report) = $0 { report } else { nil } }
    }

    package func auditLines(after sequence: UInt64, since: Double?, _ body: ([String]) -> Bool) throws(KeychainError)
        -> UInt64
    {
        var last: UInt64 = 0
        try client.perform(.readLog(after: sequence, since: since), isRepeatable: false) {
            (response) throws(KeychainError) in
            guard case .logLines(let lines, let moreFollows) = response else { throw Self.unexpected }
            last = lines.last
            let wantsMore = body(lines.lines)
            return !moreFollows || !wantsMore
        }
        return last
    }

    package func verifyAudit() throws(KeychainError) -> AuditVerification {
        try answer(.verifyLog) { if case .logVerdict(let verdict) = $0 { verdict } else { nil } }
    }

    package func close() {
        let watches = observers.withLock { observers in
            defer { observers.watches = [:] }
            return Array(observers.watches.values)
        }
        for watch in watches { watch.end() }
        ownSession.withLock { $0 = nil }
        client.close()
    }

    // MARK: The lock

    package func lockStatus() throws(KeychainError) -> LockStatus {
        try answer(.lockStatus) { if case .lockStatus(let status) = $0 { status } else { nil } }
    }

    package func unlock(_ passcode: SharedSecret, progress: ChangeProgress) throws(KeychainError) {
        try done(.unlock(passcode), progress)
    }

    package func lock(immediately: Bool) throws(KeychainError) { try done(.lock(immediately: immediately)) }

    package func addLockObserver(_ body: @escaping @Sendable (LockState) -> Void) -> Int {
        let watch = LockStateObserver(client, body)
        let number = observers.withLock { observers in
            observers.next += 1
            observers.watches[observers.next] = watch
            return observers.next
        }
        watch.begin()
        return number
    }

    package func removeLockObserver(_ number: Int) {
        observers.withLock { $0.watches.removeValue(forKey: number) }?.end()
    }

    package func addChangeObserver(
        _ body: @escaping @Sendable (KeychainChangeEvent) -> Void
    ) throws(KeychainError) -> Int {
        throw KeychainError(.notAvailable, "latchkeyd does not report changes of items yet")
    }

    package func removeChangeObserver(_ number: Int) {}

    // MARK: Administration

    package func setPasscode(_ new: SharedSecret, progress: ChangeProgress) throws(KeychainError) {
        try done(.setPasscode(new), progress)
    }

    package func changePasscode(
        from old: SharedSecret, to new: SharedSecret, rotates: Bool, progress: ChangeProgress
    ) throws(KeychainError) {
        try done(.changePasscode(from: old, to: new, rotates: rotates), progress)
    }

    package func removePasscode(_ passcode: SharedSecret, progress: ChangeProgress) throws(KeychainError) -> Int {
        try count(.removePasscode(passcode), progress)
    }

    package func createRecoveryKey(_ passcode: SharedSecret?) throws(KeychainError) -> SharedSecret {
        try answer(.createRecoveryKey(passcode)) { if case .secret(let secret) = $0 { secret } else { nil } }
    }

    package func removeRecoveryKey(_ passcode: SharedSecret?) throws(KeychainError) -> Bool {
        try count(.removeRecoveryKey(passcode)) > 0
    }

    package func changeSettings(to settings: KeybagSettings, _ passcode: SharedSecret?) throws(KeychainError) {
        try done(.changeSettings(settings, passcode))
    }

    /// Opens the keychain with its recovery key, and sets a new passcode.
    package func recover(with key: SharedSecret, newPasscode: SharedSecret?) throws(KeychainError) -> Int {
        try count(.recover(with: key, newPasscode: newPasscode))
    }

    package func backup(
        under passphrase: SharedSecret, passcode: SharedSecret?, includesNonExtractable: Bool,
        to sink: @escaping BackupSink,
        progress: ChangeProgress
    ) throws(KeychainError) -> BackupReport {
        let request = Request.backup(
            under: passphrase, passcode: passcode, includesNonExtractable: includesNonExtractable)
        return try Self.answer(request, from: client, progress, piece: sink) {
            if case .backedUp(let report) = $0 { report } else { nil }
        }
    }

    package func recordBackup() {
        // This is information for `latchkey doctor`; the backup is complete even if this fails.
        _ = try? done(.recordBackup)
    }

    package func restore(
        under passphrase: SharedSecret, passcode: SharedSecret?, merges: Bool, dryRun: Bool, allowsAttestedGroups: Bool,
        from source: @escaping BackupSource, progress: ChangeProgress
    ) throws(KeychainError) -> RestoreReport {
        // The daemon decides whether attested groups are restored.
        let request = Request.restore(under: passphrase, passcode: passcode, merges: merges, dryRun: dryRun)
        let numbered = NumberedRequest(number: client.nextNumber(), token: RandomBytes.array(count: 16), request)
        return try client.withConnection(isChange: true) { (connection) throws(DaemonConnection.Failure) in
            var report: RestoreReport?
            var isComplete = false
            try connection.exchange(numbered) { (response) throws(KeychainError) in
                switch response {
                case .ready where !isComplete:
                    let piece = try Self.piece(source)
                    isComplete = piece.isEmpty
                    try Self.deliver(NumberedRequest(number: client.nextNumber(), .piece(piece)), over: connection)
                    return false
                case .progress(let done, let total):
                    progress(done, total)
                    return false
                case .restored(let found):
                    report = found
                    return true
                default: throw Self.unexpected
                }
            }
            guard let report else { throw .keychain(Self.unexpected) }
            return report
        }
    }

    private static func piece(_ source: BackupSource) throws(KeychainError) -> [UInt8] {
        var piece = [UInt8](repeating: 0, count: pieceLength)
        var outcome = Result<Int, KeychainError>.success(0)
        piece.withUnsafeMutableBytes { buffer in
            outcome = Result { () throws(KeychainError) in try source(buffer) }
        }
        return Array(piece.prefix(try outcome.get()))
    }

    private static func deliver(_ request: NumberedRequest, over connection: DaemonConnection) throws(KeychainError) {
        do throws(DaemonConnection.Failure) {
            try connection.deliver(request)
        } catch {
            switch error {
            case .keychain(let error), .answered(let error): throw error
            case .lost:
                throw KeychainError(
                    .io, "the connection to latchkeyd was lost during the backup", hint: "try again")
            }
        }
    }

    /// 256 KiB.
    private static let pieceLength = 256 << 10

    // MARK: Sessions

    /// Makes the daemon open the keychain for the processes that hold the other end of `control`.
    ///
    /// - Returns: an object that keeps the session open as long as it is referenced.
    package func openSession(
        _ passcode: SharedSecret?, control: Socket, progress: ChangeProgress = { _, _ in }
    ) throws(KeychainError) -> any Sendable {
        let numbered = NumberedRequest(number: client.nextNumber(), .openSession(passcode))
        return try client.withConnection { (connection) throws(DaemonConnection.Failure) in
            try connection.exchange(numbered) { (response) throws(KeychainError) in
                switch response {
                case .ready:
                    do throws(SystemError) { try connection.send(descriptor: control.descriptor) } catch {
                        throw KeychainError(error)
                    }
                    return false
                case .progress(let done, let total):
                    progress(done, total)
                    return false
                case .done: return true
                default: throw Self.unexpected
                }
            }
            return connection
        }
    }

    /// A session that this process has opened for itself.
    private struct OwnSession: Sendable {
        let client: DaemonClient
        let hold: any Sendable
    }

    /// Runs `body`; if the items are locked and this process has the passcode, repeats it in a
    /// separate session of this process. The daemon's keychain stays locked for all other programs.
    private func withItems<Result>(_ body: (DaemonClient) throws(KeychainError) -> Result) throws(KeychainError)
        -> Result
    {
        if let own = ownSession.withLock({ $0 }) {
            do throws(KeychainError) {
                return try body(own.client)
            } catch {
                // The session has ended with its daemon, or was locked.
                guard [.notAvailable, .interactionNotAllowed].contains(error.status) else { throw error }
                ownSession.withLock { $0 = nil }
            }
        }
        do throws(KeychainError) {
            return try body(client)
        } catch {
            guard error.status == .interactionNotAllowed, try openOwnSession(), let own = ownSession.withLock({ $0 })
            else { throw error }
            return try body(own.client)
        }
    }

    private func openOwnSession() throws(KeychainError) -> Bool {
        try automaticUnlock.perform(isNeeded: { ownSession.withLock { $0 == nil } }) {
            (passcode) throws(KeychainError) in
            do throws(KeychainError) {
                let (ownEnd, peerEnd) = try Self.pair()
                let hold = try openSession(passcode, control: peerEnd)
                let fresh = OwnSession(
                    client: DaemonClient(SessionConnector(control: ownEnd), claim: claim), hold: hold)
                ownSession.withLock { $0 = fresh }
                return true
            } catch {
                if error.status == .authFailed { return false }
                throw error
            }
        }
    }

    private static func pair() throws(KeychainError) -> (Socket, Socket) {
        do throws(SystemError) { return try Socket.pair(preservesBoundaries: true) } catch {
            throw KeychainError(error)
        }
    }

    // MARK: Responses

    private func done(_ request: Request, _ progress: ChangeProgress = { _, _ in }) throws(KeychainError) {
        try answer(request, progress) { if case .done = $0 { () } else { nil } }
    }

    private func count(_ request: Request, _ progress: ChangeProgress = { _, _ in }) throws(KeychainError) -> Int {
        try Self.count(request, from: client, progress)
    }

    private func answer<Result>(
        _ request: Request, _ progress: ChangeProgress = { _, _ in }, _ select: (Response) -> Result?
    ) throws(KeychainError) -> Result {
        try Self.answer(request, from: client, progress, select)
    }

    private static func count(
        _ request: Request, from client: DaemonClient, _ progress: ChangeProgress = { _, _ in }
    ) throws(KeychainError) -> Int {
        try answer(request, from: client, progress) { if case .count(let count) = $0 { count } else { nil } }
    }

    /// Returns the final response to a request, after any progress messages.
    ///
    /// - Parameter piece: takes the pieces of a backup; after the first one, the request cannot be
    ///   repeated.
    private static func answer<Result>(
        _ request: Request, from client: DaemonClient, _ progress: ChangeProgress = { _, _ in },
        piece: BackupSink? = nil,
        _ select: (Response) -> Result?
    ) throws(KeychainError) -> Result {
        var result: Result?
        try client.perform(request, isRepeatable: piece == nil) { (response) throws(KeychainError) in
            switch response {
            case .progress(let done, let total):
                progress(done, total)
                return false
            case .piece(let bytes):
                guard let piece else { throw unexpected }
                try send(bytes, to: piece)
                return false
            default:
                guard let found = select(response) else { throw unexpected }
                result = found
                return true
            }
        }
        guard let result else { throw unexpected }
        return result
    }

    private static func send(_ bytes: [UInt8], to sink: BackupSink) throws(KeychainError) {
        var problem: KeychainError?
        bytes.withUnsafeBytes { buffer in
            do throws(KeychainError) { try sink(buffer) } catch { problem = error }
        }
        if let problem { throw problem }
    }

    private static let unexpected = KeychainError(
        .internalFailure, "the response of latchkeyd does not match the request",
        hint: "use one version of Latchkey")
}
