// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyProtocol
internal import LatchkeyService

extension AuditEntry {
    /// The audit entry for a request and its response; nil for a request that decides nothing.
    init?(_ request: Request, _ response: Response, _ caller: CallerIdentity) {
        guard let operation = request.auditName else { return nil }
        self.init(
            caller: caller, operation: operation, itemClass: request.itemClass,
            group: Self.group(request, response, caller),
            count: response.itemCount, status: response.status, passcode: Self.passcode(request, response))
    }

    /// The result of checking the request's passcode; nil if the request has no passcode, or if the
    /// passcode was not checked.
    private static func passcode(_ request: Request, _ response: Response) -> Passcode? {
        guard request.hasPasscode else { return nil }
        guard case .failure(let error) = response else { return .accepted }
        return error.isWrongPasscode ? .wrong : nil
    }

    /// The group that the request named, or the one group that contains all items of the response.
    private static func group(_ request: Request, _ response: Response, _ caller: CallerIdentity) -> AccessGroup? {
        switch response {
        case .record(let record): return record.accessGroup
        case .generatedKey(let key): return key.privateHalf.accessGroup
        case .keyOutput(let output): return output.accessGroup
        case .records(let records, _, _):
            guard let first = records.first?.accessGroup, records.allSatisfy({ $0.accessGroup == first }) else { break }
            return first
        default: break
        }
        return request.namedGroup.map { AccessGroup($0, grade: caller.grade) }
    }
}

extension Request {
    /// The name of the operation in the audit log.
    fileprivate var auditName: String? {
        switch self {
        case .hello, .status, .checkpoint, .who, .lockStatus, .watchLock, .recordBackup, .piece, .readLog, .verifyLog:
            nil
        case .add, .addIdentities: "add"
        case .copyMatching: "copy"
        case .update: "update"
        case .delete: "delete"
        case .check: "check"
        case .repair(_, let dryRun): dryRun ? "repair-rehearsal" : "repair"
        case .unlock: "unlock"
        case .lock: "lock"
        case .setPasscode: "set-passcode"
        case .changePasscode: "change-passcode"
        case .removePasscode: "remove-passcode"
        case .createRecoveryKey: "create-recovery-key"
        case .removeRecoveryKey: "remove-recovery-key"
        case .changeSettings: "change-settings"
        case .recover(_, let newPasscode): newPasscode == nil ? "recover-rehearsal" : "recover"
        case .backup: "backup"
        case .restore(_, _, _, let dryRun): dryRun ? "restore-rehearsal" : "restore"
        case .openSession: "open-session"
        case .generateKey: "generate-key"
        case .publicKey: "public-key"
        case .useKey(_, let use, _): use.name
        case .exportKey: "export-key"
        }
    }

    /// Whether the request contains the passcode of the keychain, either the current or a new one.
    fileprivate var hasPasscode: Bool {
        switch self {
        case .unlock, .setPasscode, .changePasscode, .removePasscode: true
        case .openSession(let passcode), .createRecoveryKey(let passcode), .removeRecoveryKey(let passcode),
            .changeSettings(_, let passcode), .backup(_, let passcode, _), .recover(_, let passcode):
            passcode != nil
        case .restore(_, let passcode, _, _): passcode != nil
        default: false
        }
    }

    fileprivate var itemClass: ItemClass? {
        switch self {
        case .add(let item): item.itemClass
        case .addIdentities: .identity
        case .generateKey, .publicKey, .useKey, .exportKey: .key
        case .copyMatching(let query, _), .update(let query, _), .delete(let query):
            query.persistentReference?.itemClass ?? query.itemClass
        default: nil
        }
    }

    fileprivate var namedGroup: String? {
        switch self {
        case .add(let item): item.accessGroup
        // A call that names several groups is refused.
        case .addIdentities(let identities): IdentityAddition.commonGroup(of: identities)
        case .generateKey(let generation): generation.privateHalf.accessGroup
        case .copyMatching(let query, _), .update(let query, _), .delete(let query): query.accessGroup
        default: nil
        }
    }
}

extension Response {
    fileprivate var status: OSStatusCode {
        guard case .failure(let error) = self else { return .success }
        return error.status
    }

    fileprivate var itemCount: Int {
        switch self {
        case .record, .publicKey, .keyOutput: 1
        case .generatedKey(let key): key.publicHalf == nil ? 1 : 2
        case .records(let records, _, _): records.count
        case .count(let count): count
        case .backedUp(let report): report.portable + report.deviceBound
        case .restored(let report): report.added + report.replaced
        default: 0
        }
    }
}
