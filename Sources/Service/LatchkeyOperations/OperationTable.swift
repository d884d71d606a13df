// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import KeychainModel
internal import LatchkeyProtocol
internal import LatchkeyService

/// The one list of operations: each request of the schema, and the operation that it is decoded to. The compiler
/// rejects a list that lacks a request of the schema.
enum OperationTable {
    static func operation(
        _ request: WireRequest.OneOf_Operation, _ secrets: inout SecretTable
    ) throws(WireError) -> any KeychainOperation {
        switch request {
        case .hello(let wire): try Hello(wire)

        case .add(let wire): try AddItem(wire, &secrets)
        case .storeItem(let wire): try StoreItem(wire, &secrets)
        case .addIdentities(let wire): try AddIdentities(wire, &secrets)
        case .copyMatching(let wire): try CopyItems(wire)
        case .copyIdentities(let wire): try CopyIdentities(wire)
        case .update(let wire): try UpdateItems(wire, &secrets)
        case .delete(let wire): try DeleteItems(wire)

        case .generateKey(let wire): try GenerateKey(wire, &secrets)
        case .publicKey(let wire): try ReadPublicKey(wire)
        case .useKey(let wire): try UseKey(wire, &secrets)
        case .exportKey(let wire): try ExportKey(wire)

        case .createContext(let wire): try CreateContext(wire)
        case .authenticate(let wire): try Authenticate(wire)
        case .setApplicationPassword(let wire): try SetApplicationPassword(wire, &secrets)
        case .hasApplicationPassword_p(let wire): try HasApplicationPassword(wire)
        case .endContext(let wire): try EndContext(wire)
        case .presence(let wire): try ReadPresence(wire)
        case .enrollSecurityKey(let wire): try EnrollSecurityKey(wire, &secrets)
        case .securityKeys(let wire): try ListSecurityKeys(wire)
        case .removeSecurityKey(let wire): try RemoveSecurityKey(wire, &secrets)

        case .status(let wire): try ReadStatus(wire)
        case .check(let wire): try CheckKeychain(wire)
        case .repair(let wire): try RepairKeychain(wire)
        case .checkpoint(let wire): try CheckpointKeychain(wire)
        case .who(let wire): try IdentifyCaller(wire)

        case .lockStatus(let wire): try ReadLockStatus(wire)
        case .unlock(let wire): try UnlockKeychain(wire, &secrets)
        case .lock(let wire): try LockKeychain(wire)
        case .watchLock(let wire): try WatchLock(wire)
        case .watchChanges(let wire): try WatchChanges(wire)

        case .setPasscode(let wire): try SetPasscode(wire, &secrets)
        case .changePasscode(let wire): try ChangePasscode(wire, &secrets)
        case .removePasscode(let wire): try RemovePasscode(wire, &secrets)
        case .createRecoveryKey(let wire): try CreateRecoveryKey(wire, &secrets)
        case .removeRecoveryKey(let wire): try RemoveRecoveryKey(wire, &secrets)
        case .moveRoot(let wire): try MoveRoot(wire, &secrets)
        case .changeSettings(let wire): try ChangeSettings(wire, &secrets)
        case .recover(let wire): try RecoverKeychain(wire, &secrets)
        case .resealRoot(let wire): try ResealRoot(wire, &secrets)

        case .backup(let wire): try BackUpKeychain(wire, &secrets)
        case .recordBackup(let wire): try RecordBackup(wire)
        case .restore(let wire): try RestoreKeychain(wire, &secrets)
        case .piece(let wire): SendPiece(Array(wire))

        case .findCopies(let wire): try FindCopies(wire, &secrets)

        case .readLog(let wire): try ReadLog(wire)
        case .verifyLog(let wire): try VerifyLog(wire)

        case .openSession(let wire): try OpenSession(wire, &secrets)

        case .listKeychains(let wire): try ListKeychains(wire)
        case .createKeychain(let wire): try CreateKeychain(wire, &secrets)
        case .deleteKeychain(let wire): try DeleteKeychain(wire)
        case .changeKeychainList(let wire): try ChangeKeychainList(wire)

        case .createFileKey(let wire): try CreateFileKey(wire)
        case .openFileKey(let wire): try OpenFileKey(wire)
        case .rewrapFileKey(let wire): try RewrapFileKey(wire)
        case .useFileKey(let wire): try UseFileKey(wire, &secrets)
        case .storeFile(let wire): try StoreFile(wire, &secrets)
        case .readStoredFile(let wire): try ReadStoredFile(wire)
        case .fileContent(let wire): try SendFileContent(wire, &secrets)

        case .watchQuestions(let wire): try WatchQuestions(wire)
        case .answerQuestion(let wire): try AnswerQuestion(wire, &secrets)
        }
    }

    /// The contents of the responses of the schema, in the same way.
    static func response(
        _ content: WireResponse.OneOf_Content, _ secrets: inout SecretTable
    ) throws(WireError) -> Response {
        switch content {
        case .failure(let wire): .failure(try wire.decode())
        case .progress(let wire): try wire.decode()
        case .done(let wire): .content(try Done(wire))
        case .count(let wire): .content(try ItemCount(wire))
        case .ready(let wire): .content(try Ready(wire))

        case .welcome(let wire): .content(try Welcome(wire))
        case .record(let wire): .content(try wire.decode(&secrets))
        case .storedRecord(let wire): .content(try StoredRecord(wire, &secrets))
        case .records(let wire): .content(try FoundItems(wire, &secrets))
        case .identities(let wire): .content(try FoundIdentities(wire, &secrets))
        case .generatedKey(let wire): .content(try GeneratedKey(wire, &secrets))
        case .publicKey(let wire): .content(try PublicKeyInfo(wire))
        case .keyOutput(let wire): .content(try KeyOutput(wire, &secrets))
        case .context(let wire): .content(try ContextHandle(wire))
        case .presence(let wire): .content(try PresenceStatus(wire))
        case .securityKey(let wire): .content(try SecurityKeyInfo(wire))
        case .securityKeys(let wire): .content(try EnrolledSecurityKeys(wire))
        case .status(let wire): .content(try KeychainStatus(wire))
        case .findings(let wire): .content(try Findings(wire))
        case .caller(let wire): .content(try CallerReport(wire))
        case .lockStatus(let wire): .content(try LockStatus(wire))
        case .lockState(let wire): .content(try LockState(wire: wire))
        case .changed(let wire): .content(try ChangeNotice(wire))
        case .secret(let wire): .content(try RecoveryKeyText(wire, &secrets))
        case .backedUp(let wire): .content(try BackupReport(wire))
        case .foundCopies(let wire): .content(try FoundCopies(wire))
        case .copyReport(let wire): .content(try CopyReport(wire))
        case .restored(let wire): .content(try RestoreReport(wire))
        case .piece(let wire): .content(BackupPiece(Array(wire)))
        case .logLines(let wire): .content(try LogPart(wire))
        case .logVerdict(let wire): .content(try AuditVerification(wire))
        case .fileKey(let wire): .content(try FileKey(wire, &secrets))
        case .filePart(let wire): .content(try FilePart(wire, &secrets))
        case .storedFilePart(let wire): .content(try StoredFilePart(wire, &secrets))
        case .keychains(let wire): .content(try KeychainOverview(wire))
        case .agentEvent(let wire): .content(try AgentEvent(wire))
        }
    }
}
