// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
package import LatchkeyOperations
internal import LatchkeyService
internal import Presence
package import SecretMemory

/// One sample of each message, with every field set.
package enum Samples {
    package static let token = [UInt8](repeating: 7, count: 16)

    package static func secret(_ text: String) -> SharedSecret { SharedSecret(copying: text.utf8) }

    /// Returns the operation as a request, with a token if it is a change.
    package static func numbered(_ operation: any KeychainOperation, number: UInt64 = 1) -> NumberedRequest {
        var request = NumberedRequest(number: number, operation)
        if request.isChange { request.token = token }
        return request
    }

    package static let attributes: [ItemAttribute: AttributeValue] = [
        .account: .string("alice\u{0}é"), .generic: .data([0, 255, 1]), .port: .number(-443), .startDate: .date(-0.25),
    ]

    package static let secrets = ItemSecrets(
        data: secret("the data"), attributes: [.extraNotes: secret("notes"), .extraClient0: secret("")])

    package static let lookup = makeLookup()
    private static func makeLookup() -> LookupAttributes {
        guard let attributes = try? LookupAttributes([("service", "s"), ("username", "é"), ("xdg:schema", "")]) else {
            preconditionFailure("the names are valid")
        }
        return attributes
    }
    private static let contentType = ContentType("text/plain; charset=utf8")

    /// A query for lookup attributes in both classes of passwords.
    private static var lookupQuery: ItemQuery {
        var query = ItemQuery(nil, limit: .all)
        query.lookupAttributes = lookup
        query.accessGroups = ["G1", "é"]
        return query
    }

    /// A record of an item that a client of the Secret Service has stored.
    private static var lookupRecord: ItemRecord {
        var record = record
        (record.storedLookup, record.contentType) = (lookup, contentType)
        return record
    }

    private static let lookupAddition = ItemAddition(
        lookup, label: "l", data: secret("d"), contentType: contentType, replaces: true, accessGroup: "G")

    private static var lookupUpdate: ItemUpdate {
        var update = ItemUpdate(data: secret("d"))
        (update.lookupAttributes, update.contentType) = (lookup, contentType)
        return update
    }

    private static let lockedItem = LockedItem(
        PersistentReference(.genericPassword, .random()), AccessGroup("G", grade: .claimed))

    package static var query: ItemQuery {
        var match = MatchOptions()
        match.ignoresCase = true
        match.subjectContains = "CN"
        match.items = [PersistentReference(.key, .random()), PersistentReference(.certificate, .random())]
        match.hostOrSubdomain = "example.com"
        match.emailAddress = "a@example.com"
        return ItemQuery(
            .internetPassword, attributes: attributes, accessGroup: "G1", synchronizable: .any,
            persistentReference: PersistentReference(.genericPassword, .random()), limit: .atMost(3), match: match,
            includesTombstones: true)
    }

    package static var record: ItemRecord {
        ItemRecord(
            identifier: .random(), itemClass: .genericPassword, protection: .whenPasscodeSetThisDeviceOnly,
            accessGroup: AccessGroup("G1", grade: .attested), isSynchronizable: true, isTombstone: true, created: 1.5,
            modified: -2.5,
            attributes: attributes, accessControlFlags: AccessControlFlags(rawValue: 1 << 30), addedBy: "/usr/bin/x",
            secrets: secrets)
    }

    package static let securityKey = SecurityKeyInfo(
        identifier: SecurityKeyIdentifier(unchecked: [UInt8](repeating: 6, count: SecurityKeyIdentifier.length)),
        name: "blue", created: 1.5, satisfiesUserPresence: true)

    package static var identity: IdentityRecord {
        var (certificate, key) = (record, record)
        (certificate.itemClass, key.itemClass) = (.certificate, .key)
        let info = PublicKeyInfo(KeyKind(.ellipticCurve, bits: 256), half: .privateKey, publicKey: [4, 5])
        return IdentityRecord(certificate: certificate, key: key, publicKey: info)
    }

    /// An identity after a request for its attributes only.
    package static var bareIdentity: IdentityRecord {
        var bare = identity
        (bare.certificate.secrets, bare.key.secrets, bare.publicKey) = (nil, nil, nil)
        return bare
    }

    private static let context = contextID()
    private static func contextID() -> AuthenticationContextID {
        guard let id = AuthenticationContextID(bytes: Array(0..<16)) else { preconditionFailure("16 bytes are an id") }
        return id
    }
    package static let fileRecord = makeFileRecord()
    private static func makeFileRecord() -> FileKeyRecord {
        guard
            let binding = FileKeyRecord.Binding(
                keychain: Array(0..<16), protection: .completeUnlessOpen, generation: 3, file: Array(16..<32),
                group: AccessGroup("G1", grade: .claimed)),
            let record = FileKeyRecord(
                binding, ephemeralKey: [UInt8](repeating: 4, count: 65), wrappedKey: [UInt8](repeating: 5, count: 40))
        else { preconditionFailure("the lengths fit the class") }
        return record
    }
    private static func name(_ text: String) -> KeychainName {
        guard let name = KeychainName(text) else { preconditionFailure("it is a name") }
        return name
    }
    private static let place = PromptPlace([.terminal: "/dev/pts/3"])

    /// Who may perform an operation, independently of its traits.
    package static func rule(of operation: any KeychainOperation) -> AccessRule {
        switch operation {
        case is BackUpKeychain, is RestoreKeychain, is FindCopies, is RepairKeychain, is SetPasscode, is ChangePasscode,
            is RemovePasscode, is CreateRecoveryKey, is RemoveRecoveryKey, is ChangeSettings, is MoveRoot,
            is RecoverKeychain, is ResealRoot, is EnrollSecurityKey, is RemoveSecurityKey, is DeleteKeychain:
            .allGroups
        case is LockKeychain: .lock
        case is CheckKeychain, is CheckpointKeychain, is UnlockKeychain, is RecordBackup, is ReadLog, is VerifyLog,
            is OpenSession, is ListSecurityKeys, is WatchQuestions, is AnswerQuestion, is CreateKeychain,
            is ChangeKeychainList:
            .administration
        case is CopyItems, is CopyIdentities, is UpdateItems, is UseKey, is ExportKey, is OpenFileKey, is RewrapFileKey,
            is UseFileKey, is ReadStoredFile:
            .secrets
        case is AddItem, is StoreItem, is AddIdentities, is DeleteItems, is GenerateKey, is ReadPublicKey,
            is CreateFileKey,
            is StoreFile, is Authenticate:
            .items
        default: .anyone
        }
    }

    package static var requests: [any KeychainOperation] {
        [
            Hello(claim: CallerIdentity(executable: "/x", declaredGroups: ["a", "b"], isUserCommand: true)),
            Hello(claim: CallerIdentity(executable: "/x"), keychain: KeychainName("build") ?? .login),
            AddItem(
                ItemAddition(
                    .certificate, attributes: attributes, secrets: secrets, accessGroup: "G", protection: .always,
                    accessControlFlags: AccessControlFlags(rawValue: .max), isSynchronizable: true)),
            StoreItem(
                ItemAddition(.genericPassword, secrets: ItemSecrets(data: secret("d"))), inPlaceOf: query,
                with: ItemUpdate(attributes: [.label: .string("l")], data: secret("d"))),
            StoreItem(ItemAddition(.genericPassword), inPlaceOf: query, with: nil),
            AddIdentities([
                IdentityAddition(
                    certificate: ItemAddition(.certificate, attributes: attributes, secrets: secrets, accessGroup: "G"),
                    key: ItemAddition(.key, secrets: ItemSecrets(data: secret("key")), protection: .whenUnlocked)),
                IdentityAddition(certificate: ItemAddition(.certificate), key: ItemAddition(.key)),
            ]),
            CopyItems(query, returning: [.data, .persistentReference]),
            CopyIdentities(query, returning: [.data, .reference]),
            UpdateItems(
                ItemQuery(.key, limit: .all),
                with: ItemUpdate(
                    attributes: attributes, data: secret("d"), secretAttributes: [.extraNotes: secret("n")],
                    accessGroup: "H",
                    protection: .afterFirstUnlock, accessControlFlags: [], isSynchronizable: false, created: 3)),
            AddItem(lookupAddition), CopyItems(lookupQuery, returning: .attributes),
            UpdateItems(ItemQuery(.genericPassword), with: lookupUpdate), DeleteItems(lookupQuery),
            DeleteItems(ItemQuery(nil, persistentReference: PersistentReference(.key, .random()), limit: .one)),
            ReadStatus(), CheckKeychain(), RepairKeychain(.moveDamaged, dryRun: true),
            RepairKeychain(.emptyQuarantine, dryRun: false), CheckpointKeychain(),
            IdentifyCaller(),
            ReadLockStatus(), UnlockKeychain(secret("p")), LockKeychain(immediately: true), WatchLock(), WatchChanges(),
            SetPasscode(secret("p")),
            ChangePasscode(from: secret("p"), to: secret("q"), rotates: true), RemovePasscode(secret("p")),
            CreateRecoveryKey(nil), CreateRecoveryKey(secret("p")), RemoveRecoveryKey(secret("p")),
            MoveRoot(to: .tpm, nil, dryRun: true), MoveRoot(to: .file, secret("p"), dryRun: false),
            MoveRoot(to: RootTarget(.tpm, registers: [23], code: secret("c")), nil, dryRun: false),
            ResealRoot(with: secret("c")),
            ChangeSettings(
                KeybagSettings(graceSeconds: 65535, lockInterval: .max, locksOnSleep: true, wipesAfterTen: true),
                secret("p")),
            RecoverKeychain(with: secret("k"), newPasscode: nil),
            RecoverKeychain(with: secret("k"), newPasscode: secret("p")),
            BackUpKeychain(under: secret("a"), passcode: secret("b")),
            FindCopies(passcode: secret("p")), FindCopies(passcode: nil),
            BackUpKeychain(under: secret("a"), passcode: nil, including: [.nonExtractableKeys, .files]),
            RecordBackup(),
            RestoreKeychain(under: secret("a"), passcode: nil, merges: true, dryRun: true), SendPiece([1, 2, 3]),
            SendPiece([]),
            GenerateKey(
                KeyGeneration(
                    KeyKind(.rsa, bits: 2048),
                    privateHalf: ItemAddition(.key, attributes: attributes, accessGroup: "G"),
                    publicHalf: ItemAddition(.key, protection: .always))),
            GenerateKey(KeyGeneration(KeyKind(.ellipticCurve, bits: 256), privateHalf: ItemAddition(.key))),
            ReadPublicKey(of: PersistentReference(.key, .random())), ExportKey(PersistentReference(.key, .random())),
            UseKey(PersistentReference(.key, .random()), .signPKCS1(nil), on: secret("d")),
            UseKey(PersistentReference(.key, .random()), .signPKCS1(.sha1), on: secret("d")),
            UseKey(PersistentReference(.key, .random()), .signPSS(.sha224), on: secret("d")),
            UseKey(PersistentReference(.key, .random()), .signRaw, on: secret("d")),
            UseKey(PersistentReference(.key, .random()), .signECDSA, on: secret("d")),
            UseKey(PersistentReference(.key, .random()), .decryptRaw, on: secret("d")),
            UseKey(PersistentReference(.key, .random()), .decryptPKCS1, on: secret("d")),
            UseKey(PersistentReference(.key, .random()), .decryptOAEP(.sha512), on: secret("d")),
            UseKey(PersistentReference(.key, .random()), .agree, on: secret("d")),
            UseKey(PersistentReference(.key, .random()), .agreeToDecrypt, on: secret("d")),
            UseKey(PersistentReference(.key, .random()), .attest, on: secret("d")),
            UseKey(
                PersistentReference(.key, .random()), .signRaw, on: secret("d"),
                authentication: Authentication(.skip, context: context)),
            ExportKey(PersistentReference(.key, .random()), authentication: Authentication(context: context)),
            CopyItems(
                ItemQuery(.key, authentication: Authentication(.skip, context: context)), returning: .attributes),
            AddItem(ItemAddition(.key, authentication: Authentication(context: context))),
            CreateContext(), EndContext(context), SetApplicationPassword(secret("p"), in: context),
            SetApplicationPassword(nil, in: context), HasApplicationPassword(in: context),
            ReadPresence(at: place), ReadPresence(at: .none),
            Authenticate(
                for: .item(PersistentReference(.key, .random())), in: context,
                prompt: AuthenticationPrompt(
                    reason: "why", cancelTitle: "No", fallbackTitle: "", reuse: 300, place: place)),
            Authenticate(
                for: .newItem(label: "l", .applicationPassword), in: context, prompt: AuthenticationPrompt()),
            Authenticate(for: .accessControl(.userPresence), in: context, prompt: AuthenticationPrompt()),
            Authenticate(for: .policy(.biometry), in: context, prompt: AuthenticationPrompt()),
            EnrollSecurityKey(
                SecurityKeyRequest(name: "blue", satisfiesUserPresence: true), passcode: secret("p"),
                prompt: AuthenticationPrompt(reason: "why", place: place)),
            EnrollSecurityKey(
                SecurityKeyRequest(name: "b"), passcode: secret("p"), prompt: AuthenticationPrompt()),
            ListSecurityKeys(),
            RemoveSecurityKey(securityKey.identifier, passcode: secret("p"), deletesItems: true, dryRun: false),
            RemoveSecurityKey(securityKey.identifier, passcode: nil, deletesItems: false, dryRun: true),
            ReadLog(after: .max, since: 12.5), ReadLog(after: 0, since: nil), VerifyLog(), OpenSession(nil),
            OpenSession(secret("p")),
            ListKeychains(), CreateKeychain(name("build"), passcode: secret("p")),
            CreateKeychain(name("x y"), passcode: nil),
            DeleteKeychain(name("build")), ChangeKeychainList(.search([name("build"), .login])),
            ChangeKeychainList(.search([])), ChangeKeychainList(.defaultKeychain(name("build"))),
            StoreFile(ItemAddition(.genericPassword, attributes: attributes), replaces: true),
            SendFileContent(secret("f")), SendFileContent(secret("")),
            ReadStoredFile(ItemQuery(.genericPassword), at: 7, count: 8, version: Array(repeating: 3, count: 16)),
            ReadStoredFile(ItemQuery(.genericPassword), at: 0, count: 0, version: nil),
            CreateFileKey(.completeUnlessOpen, group: "G", withholdsKey: true), CreateFileKey(.none),
            OpenFileKey(fileRecord), RewrapFileKey(fileRecord), RewrapFileKey(fileRecord, for: .complete, group: "H"),
            UseFileKey(FilePartRequest(fileRecord, secret("part"), authenticated: [1, 2], seal: nil)),
            UseFileKey(FilePartRequest(fileRecord, secret("part"), authenticated: [], seal: Array(0..<28))),
            WatchQuestions(), AnswerQuestion(1, with: .confirmed(secret("p"))),
            AnswerQuestion(1, with: .confirmed(nil)),
            AnswerQuestion(2, with: .denied), AnswerQuestion(2, with: .cancelled), AnswerQuestion(2, with: .timedOut),
            AnswerQuestion(.max, with: .unavailable(.agentFailed(problem: "p", hint: "h"))),
        ]
    }

    private static var overview: KeychainOverview {
        guard let list = try? KeychainList(searching: [name("build"), .login], defaultKeychain: name("build")) else {
            preconditionFailure("the list is short")
        }
        return KeychainOverview(
            places: [KeychainPlace(.login, path: "/a/keychain.db"), KeychainPlace(name("build"), path: "/a/build")],
            list: list)
    }

    package static var responses: [Response] {
        var status = KeychainStatus(
            mode: .system, root: .file, databasePath: "/a", deviceKeyPath: nil, formatVersion: 2, hasPasscode: true,
            counts: [KeychainStatus.Count(itemClass: .key, protection: .always, count: 9)], quarantined: 3)
        status.hasAuditLog = true
        (status.itemsRequiringPasscode, status.itemsWithoutRecovery) = (4, 2)
        var lock = LockStatus(
            state: .locked, hasPasscode: true, hasRecoveryKey: true, settings: KeybagSettings(), open: [.always],
            graceLeft: 1.5,
            wrongPasscodes: 3, delay: 60, delayBegan: 12.5)
        lock.guesses = [
            PasscodeGuess(program: "/usr/bin/x", user: 1000, process: 77, count: 5, first: 1.5, last: 2.5),
            PasscodeGuess(program: "", user: nil, process: nil, count: 1, first: 0, last: 0),
        ]
        let removals = [
            AuditRemoval(.age, first: 1, last: 9, lines: 9, since: 1, until: 2, removed: 3),
            AuditRemoval(.unknown, first: 1, last: 1, lines: 1),
        ]
        var (saved, restored) = (BackupReport(), RestoreReport())
        (saved.portable, saved.deviceBound, saved.staying, saved.damaged) = (1, 2, 3, 4)
        (restored.items, restored.added, restored.replaced, restored.kept, restored.foreign, restored.deleted) = (
            1, 2, 3, 4, 5, 6
        )
        (saved.notExtractable, saved.notExtractableNames) = (5, ["n", ""])
        (restored.refused, restored.refusals) = (7, ["r"])
        (saved.files, saved.missingFiles, restored.files, restored.equal) = (8, 9, 10, 11)
        var copies = CopyReport()
        (copies.compared, copies.locked, copies.guarded, copies.short) = (1, 2, 3, 4)
        (copies.common, copies.long, copies.damaged) = (5, 6, 7)
        let copy = CopyMatch(
            position: .max, item: CopiedItem(itemClass: .genericPassword, name: "n", accessGroup: "G"))
        return [
            .content(FileKey(fileRecord, key: secret("key"))), .content(FileKey(fileRecord, key: nil)),
            .content(overview),
            .content(StoredFilePart(secret("part"), length: 9, version: Array(0..<16))),
            .content(FilePart(secret("part"), seal: Array(0..<28))), .content(FilePart(secret("part"), seal: nil)),
            .content(Welcome(instance: token, mode: .session, dataDirectory: "/d", stateDirectory: "/s")),
            .failure(KeychainError(.itemNotFound, "p", hint: "h")),
            .failure(KeychainError(OSStatusCode(rawValue: -12345), "p")), .content(Done()),
            .content(ItemCount(5)), .content(record),
            .content(FoundItems(ItemMatches(records: [record, record], damaged: 7), moreFollows: true)),
            .content(FoundItems(ItemMatches(records: [], damaged: 0))), .content(lookupRecord),
            .content(FoundItems(ItemMatches(records: [lookupRecord], damaged: 0, locked: [lockedItem, lockedItem]))),
            .content(FoundIdentities([identity, bareIdentity], moreFollows: true)), .content(FoundIdentities([])),
            .content(GeneratedKey(privateHalf: record, publicHalf: record, publicKey: [4, 5])),
            .content(GeneratedKey(privateHalf: record, publicHalf: nil, publicKey: [])),
            .content(PublicKeyInfo(KeyKind(.ellipticCurve, bits: 521), half: .privateKey, publicKey: [1, 2])),
            .content(PublicKeyInfo(KeyKind(.rsa, bits: 1024), half: .publicKey, publicKey: [])),
            .content(KeyOutput(secret("signature"), from: AccessGroup("G1", grade: .attested))),
            .content(status), .content(Findings([KeychainFinding("a", isHealthy: true, detail: "d", hint: "h")])),
            .content(
                CallerReport(
                    facts: [CallerReport.Fact("user", "1", .attested, source: "kernel")], groups: [.shared],
                    hasAllGroups: true, reason: "r"
                )),
            .content(lock), .content(LockState.beforeFirstUnlock), .content(ChangeNotice()),
            .content(RecoveryKeyText(secret("recovery"))), .content(saved),
            .content(restored), .content(copies), .content(FoundCopies([copy, copy])), .content(FoundCopies([])),
            .content(BackupPiece([9])), .content(Ready()),
            .content(LogPart(AuditLines(lines: ["{}", ""], last: 9), moreFollows: true)),
            .content(AuditVerification(isIntact: false, lines: 3, firstWrong: 2, detail: "d", removals: removals)),
            .content(ContextHandle(context)), .content(PresenceStatus(hasPasscode: false)),
            .content(
                PresenceStatus(
                    methods: [
                        PresenceStatus.Method(name: "m", factors: ["a", "b"]),
                        PresenceStatus.Method(name: "n", factors: [], problem: "p", hint: "h"),
                    ], hasPasscode: true, biometry: .lockedOut,
                    enrolledSet: EnrolledSet(digest: [UInt8](repeating: 7, count: EnrolledSet.digestLength)),
                    securityKeys: 2)),
            .content(securityKey), .content(EnrolledSecurityKeys([])),
            .content(EnrolledSecurityKeys(Array(repeating: securityKey, count: SecurityKeyInfo.maxCount))),
            .failure(.authenticationNeeded(for: .item(PersistentReference(.key, .random())))),
            .failure(.authenticationNeeded(for: .newItem(label: "l", .applicationPassword))),
            .failure(.authentication(.biometryLockout, "p", hint: "h")),
            .progress(done: 1, total: 2),
        ] + agentEvents.map { .content($0) }
    }

    /// The user of a question is not part of its message: it is that of the agent.
    private static var agentEvents: [AgentEvent] {
        let place = PromptPlace([.terminal: "/dev/pts/1"])
        let attested = CallerIdentity(
            executable: "/x", attestedGroups: ["G2"], process: CallerIdentity.ProcessIdentity(user: 0, process: 77))
        let claimed = CallerIdentity(executable: "/y", declaredGroups: ["G1"], sandbox: .application(group: "G3"))
        let unidentified = CallerIdentity(executable: "", sandbox: .unidentified)
        let requests = [
            PresenceRequest(
                .passcode, user: 0, program: attested, subject: .item(label: "l", identifier: "i"), reason: "r",
                place: place, previousFailure: .wrongSecret(attemptsLeft: 2)),
            PresenceRequest(
                .newApplicationPassword, user: 0, program: claimed, subject: .keychain, place: .none,
                previousFailure: .entriesDiffer),
            PresenceRequest(.applicationPassword, user: 0, program: unidentified, subject: .keychain, place: .none),
            PresenceRequest(.confirmation, user: 0, program: claimed, subject: .keychain, place: .none),
            PresenceRequest(
                .fingerprint, user: 0, program: claimed, subject: .keychain, cancelTitle: "c", fallbackTitle: "f",
                place: .none, previousFailure: .notRecognized),
            PresenceRequest(.securityKey, user: 0, program: claimed, subject: .keychain, place: .none),
        ]
        return [.registered, .withdrawn(.max)]
            + requests.map { .question(AgentQuestion(7, $0, seconds: 120)) }
    }
}

/// Who may perform an operation.
package enum AccessRule: Sendable {
    /// Every caller.
    case anyone
    /// Every caller outside of a sandbox.
    case administration
    /// The same, and only an attested caller of a keychain that may hold items of attested groups.
    case allGroups
    /// Every caller; with such items only an attested one, but for the session that the caller is in.
    case lock
    /// A caller who has the group of the items.
    case items
    /// The same, with the passcode where the user's own command reads another program's items.
    case secrets
}
