// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
package import LatchkeyClient
public import LatchkeyServer
public import LatchkeyService
internal import LinuxSystem
public import SecretMemory
import Synchronization

/// A daemon's keychain that several programs use: each caller has its own connections, which the
/// server attributes to that caller.
public final class RoutedService: KeychainService {
    private let server: KeychainServer
    private let services = Mutex<[CallerIdentity: DaemonService]>([:])

    public init(_ server: KeychainServer) {
        self.server = server
    }

    /// Returns the service that this program uses.
    package func service(for caller: CallerIdentity) -> DaemonService {
        services.withLock { services in
            if let service = services[caller] { return service }
            let fresh = DaemonService(PairConnector(server: server, identity: caller)) { caller }
            services[caller] = fresh
            return fresh
        }
    }

    private var administrator: DaemonService {
        service(for: CallerIdentity(executable: "/usr/bin/latchkey", isUserCommand: true))
    }

    public func add(_ item: ItemAddition, from caller: CallerIdentity) throws(KeychainError) -> ItemRecord {
        try service(for: caller).add(item, from: caller)
    }
    public func addIdentities(_ identities: [IdentityAddition], from caller: CallerIdentity) throws(KeychainError)
        -> Int
    {
        try service(for: caller).addIdentities(identities, from: caller)
    }
    public func copyMatching(
        _ query: ItemQuery, returning: ReturnTypes, from caller: CallerIdentity
    ) throws(KeychainError) -> ItemMatches {
        try service(for: caller).copyMatching(query, returning: returning, from: caller)
    }
    public func copyIdentities(
        _ query: ItemQuery, returning: ReturnTypes, from caller: CallerIdentity
    ) throws(KeychainError) -> [IdentityRecord] {
        try service(for: caller).copyIdentities(query, returning: returning, from: caller)
    }
    public func update(_ query: ItemQuery, with update: ItemUpdate, from caller: CallerIdentity) throws(KeychainError)
        -> Int
    {
        try service(for: caller).update(query, with: update, from: caller)
    }
    public func delete(_ query: ItemQuery, from caller: CallerIdentity) throws(KeychainError) -> Int {
        try service(for: caller).delete(query, from: caller)
    }
    public func generateKey(_ generation: KeyGeneration, from caller: CallerIdentity) throws(KeychainError)
        -> GeneratedKey
    {
        try service(for: caller).generateKey(generation, from: caller)
    }
    public func publicKey(of reference: PersistentReference, from caller: CallerIdentity) throws(KeychainError)
        -> PublicKeyInfo
    {
        try service(for: caller).publicKey(of: reference, from: caller)
    }
    public func useKey(
        _ reference: PersistentReference, _ use: PrivateKeyUse, on input: SharedSecret, from caller: CallerIdentity
    ) throws(KeychainError) -> KeyOutput {
        try service(for: caller).useKey(reference, use, on: input, from: caller)
    }
    public func exportKey(_ reference: PersistentReference, from caller: CallerIdentity) throws(KeychainError)
        -> KeyOutput
    {
        try service(for: caller).exportKey(reference, from: caller)
    }
    public func callerReport(_ caller: CallerIdentity) throws(KeychainError) -> CallerReport {
        try service(for: caller).callerReport(caller)
    }

    public func status() throws(KeychainError) -> KeychainStatus { try administrator.status() }
    public func check(progress: (Int) -> Void) throws(KeychainError) -> [KeychainFinding] {
        try administrator.check(progress: progress)
    }
    public func repair(_ action: RepairAction, dryRun: Bool, progress: (Int) -> Void) throws(KeychainError) -> Int {
        try administrator.repair(action, dryRun: dryRun, progress: progress)
    }
    public func checkpoint() throws(KeychainError) { try administrator.checkpoint() }
    public func auditLines(after sequence: UInt64, since: Double?, _ body: ([String]) -> Bool) throws(KeychainError)
        -> UInt64
    {
        try administrator.auditLines(after: sequence, since: since, body)
    }
    public func verifyAudit() throws(KeychainError) -> AuditVerification { try administrator.verifyAudit() }
    public func lockStatus() throws(KeychainError) -> LockStatus { try administrator.lockStatus() }
    public func unlock(_ passcode: SharedSecret, progress: ChangeProgress) throws(KeychainError) {
        try administrator.unlock(passcode, progress: progress)
    }
    public func lock(immediately: Bool) throws(KeychainError) { try administrator.lock(immediately: immediately) }
    public func addLockObserver(_ body: @escaping @Sendable (LockState) -> Void) -> Int {
        administrator.addLockObserver(body)
    }
    public func removeLockObserver(_ number: Int) { administrator.removeLockObserver(number) }
    public func addChangeObserver(
        _ body: @escaping @Sendable (KeychainChangeEvent) -> Void
    ) throws(KeychainError) -> Int {
        try administrator.addChangeObserver(body)
    }
    public func removeChangeObserver(_ number: Int) { administrator.removeChangeObserver(number) }
    public func setPasscode(_ new: SharedSecret, progress: ChangeProgress) throws(KeychainError) {
        try administrator.setPasscode(new, progress: progress)
    }
    public func changePasscode(
        from old: SharedSecret, to new: SharedSecret, rotates: Bool, progress: ChangeProgress
    ) throws(KeychainError) {
        try administrator.changePasscode(from: old, to: new, rotates: rotates, progress: progress)
    }
    public func removePasscode(_ passcode: SharedSecret, progress: ChangeProgress) throws(KeychainError) -> Int {
        try administrator.removePasscode(passcode, progress: progress)
    }
    public func createRecoveryKey(_ passcode: SharedSecret?) throws(KeychainError) -> SharedSecret {
        try administrator.createRecoveryKey(passcode)
    }
    public func removeRecoveryKey(_ passcode: SharedSecret?) throws(KeychainError) -> Bool {
        try administrator.removeRecoveryKey(passcode)
    }
    public func changeSettings(to settings: KeybagSettings, _ passcode: SharedSecret?) throws(KeychainError) {
        try administrator.changeSettings(to: settings, passcode)
    }
    public func backup(
        under passphrase: SharedSecret, passcode: SharedSecret?, includesNonExtractable: Bool,
        to sink: @escaping BackupSink,
        progress: ChangeProgress
    ) throws(KeychainError) -> BackupReport {
        try administrator.backup(
            under: passphrase, passcode: passcode, includesNonExtractable: includesNonExtractable, to: sink,
            progress: progress)
    }
    public func recordBackup() { administrator.recordBackup() }
    public func restore(
        under passphrase: SharedSecret, passcode: SharedSecret?, merges: Bool, dryRun: Bool, allowsAttestedGroups: Bool,
        from source: @escaping BackupSource, progress: ChangeProgress
    ) throws(KeychainError) -> RestoreReport {
        try administrator.restore(
            under: passphrase, passcode: passcode, merges: merges, dryRun: dryRun,
            allowsAttestedGroups: allowsAttestedGroups, from: source,
            progress: progress)
    }

    public func recover(with key: SharedSecret, newPasscode: SharedSecret?) throws(KeychainError) -> Int {
        try administrator.recover(with: key, newPasscode: newPasscode)
    }

    /// Closes the connections of the programs, and then stops the daemon.
    public func close() {
        for service in services.withLock({ Array($0.values) }) { service.close() }
        server.stop()
    }
}

/// Connects to a server in this process as any program.
struct PairConnector: DaemonConnector {
    let server: KeychainServer
    let identity: CallerIdentity

    func connect() throws(KeychainError) -> Socket {
        do throws(SystemError) {
            let (mine, theirs) = try Socket.pair()
            server.serve(theirs, as: identity)
            return mine
        } catch {
            throw KeychainError(error)
        }
    }
}
