// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import KeychainModel
internal import SecretMemory
internal import SwiftProtobuf

extension NumberedRequest {
    /// Encodes the request as a frame.
    public func frame() throws(WireError) -> Frame {
        var collector = SecretCollector()
        var message = WireRequest()
        message.number = number
        message.token = Data(token)
        message.operation = try request.wire(&collector)
        return Frame(message: try encoded(message), secrets: collector.secrets)
    }

    /// Decodes a request. Unknown fields and codes, and secrets that no field refers to, are
    /// rejected.
    public init(_ frame: Frame) throws(WireError) {
        let message = try decoded(WireRequest.self, frame.message)
        var table = SecretTable(frame.secrets)
        guard message.token.isEmpty || message.token.count == 16 else {
            throw .malformed("a token has \(message.token.count) bytes")
        }
        self.init(number: message.number, token: Array(message.token), try Request(message.operation, &table))
        try table.requireAllTaken()
        guard !request.isChange || !token.isEmpty else { throw .malformed("a change has no token") }
    }
}

extension Request {
    fileprivate func wire(_ collector: inout SecretCollector) throws(WireError) -> WireRequest.OneOf_Operation {
        switch self {
        case .hello(let hello): .hello(WireHello(hello))
        case .add(let item): .add(WireAddition(item, &collector))
        case .addIdentities(let identities): .addIdentities(try WireAddIdentities(identities, &collector))
        case .copyMatching(let query, let returning): .copyMatching(WireCopyMatching(query, returning))
        case .update(let query, let update): .update(WireUpdateMatching(query, update, &collector))
        case .delete(let query): .delete(WireQuery(query))
        case .status: .status(WireNothing())
        case .check: .check(WireNothing())
        case .repair(let action, let dryRun): .repair(WireRepair(action, dryRun))
        case .checkpoint: .checkpoint(WireNothing())
        case .who: .who(WireNothing())
        case .lockStatus: .lockStatus(WireNothing())
        case .unlock(let passcode): .unlock(.with { $0.passcode = collector.append(passcode) })
        case .lock(let immediately): .lock(.with { $0.immediately = immediately })
        case .watchLock: .watchLock(WireNothing())
        case .setPasscode(let new): .setPasscode(.with { $0.passcode = collector.append(new) })
        case .changePasscode(let old, let new, let rotates):
            .changePasscode(
                .with {
                    $0.old = collector.append(old)
                    $0.new = collector.append(new)
                    $0.rotates = rotates
                })
        case .removePasscode(let passcode): .removePasscode(.with { $0.passcode = collector.append(passcode) })
        case .createRecoveryKey(let passcode): .createRecoveryKey(WireAuthorized(passcode, &collector))
        case .removeRecoveryKey(let passcode): .removeRecoveryKey(WireAuthorized(passcode, &collector))
        case .changeSettings(let settings, let passcode):
            .changeSettings(
                .with {
                    $0.settings = WireSettings(settings)
                    if let passcode { $0.passcode = collector.append(passcode) }
                })
        case .recover(let key, let newPasscode):
            .recover(
                .with {
                    $0.key = collector.append(key)
                    if let newPasscode { $0.newPasscode = collector.append(newPasscode) }
                })
        case .backup(let passphrase, let passcode, let includesNonExtractable):
            .backup(
                .with {
                    $0.passphrase = collector.append(passphrase)
                    if let passcode { $0.passcode = collector.append(passcode) }
                    $0.includesNonExtractable = includesNonExtractable
                })
        case .recordBackup: .recordBackup(WireNothing())
        case .restore(let passphrase, let passcode, let merges, let dryRun):
            .restore(
                .with {
                    $0.passphrase = collector.append(passphrase)
                    if let passcode { $0.passcode = collector.append(passcode) }
                    $0.merges = merges
                    $0.dryRun = dryRun
                })
        case .piece(let bytes): .piece(Data(bytes))
        case .readLog(let after, let since):
            .readLog(
                .with {
                    $0.after = after
                    if let since { $0.since = since }
                })
        case .verifyLog: .verifyLog(WireNothing())
        case .generateKey(let generation): .generateKey(WireGenerateKey(generation, &collector))
        case .publicKey(let reference): .publicKey(Data(reference.bytes))
        case .useKey(let reference, let use, let input): .useKey(WireUseKey(reference, use, input, &collector))
        case .exportKey(let reference): .exportKey(Data(reference.bytes))
        case .openSession(let passcode):
            .openSession(.with { if let passcode { $0.passcode = collector.append(passcode) } })
        }
    }

    fileprivate init(_ operation: WireRequest.OneOf_Operation?, _ table: inout SecretTable) throws(WireError) {
        switch operation {
        case .hello(let wire): self = .hello(try wire.decode())
        case .add(let wire): self = .add(try wire.decode(&table))
        case .addIdentities(let wire): self = .addIdentities(try wire.decode(&table))
        case .copyMatching(let wire):
            try requireKnown(wire)
            self = .copyMatching(try wire.query.decode(), returning: try wire.decodedReturning())
        case .update(let wire):
            try requireKnown(wire)
            self = .update(try wire.query.decode(), with: try wire.update.decode(&table))
        case .delete(let wire): self = .delete(try wire.decode())
        case .status(let nothing): self = try .status.with(nothing)
        case .check(let nothing): self = try .check.with(nothing)
        case .repair(let wire): self = try wire.decode()
        case .checkpoint(let nothing): self = try .checkpoint.with(nothing)
        case .who(let nothing): self = try .who.with(nothing)
        case .lockStatus(let nothing): self = try .lockStatus.with(nothing)
        case .unlock(let wire):
            try requireKnown(wire)
            self = .unlock(try table.take(wire.passcode))
        case .lock(let wire):
            try requireKnown(wire)
            self = .lock(immediately: wire.immediately)
        case .watchLock(let nothing): self = try .watchLock.with(nothing)
        case .setPasscode(let wire):
            try requireKnown(wire)
            self = .setPasscode(try table.take(wire.passcode))
        case .changePasscode(let wire):
            try requireKnown(wire)
            self = .changePasscode(from: try table.take(wire.old), to: try table.take(wire.new), rotates: wire.rotates)
        case .removePasscode(let wire):
            try requireKnown(wire)
            self = .removePasscode(try table.take(wire.passcode))
        case .createRecoveryKey(let wire): self = .createRecoveryKey(try wire.decode(&table))
        case .removeRecoveryKey(let wire): self = .removeRecoveryKey(try wire.decode(&table))
        case .changeSettings(let wire):
            try requireKnown(wire)
            self = .changeSettings(try wire.settings.decode(), wire.hasPasscode ? try table.take(wire.passcode) : nil)
        case .recover(let wire):
            try requireKnown(wire)
            self = .recover(
                with: try table.take(wire.key),
                newPasscode: wire.hasNewPasscode ? try table.take(wire.newPasscode) : nil)
        case .backup(let wire):
            try requireKnown(wire)
            self = .backup(
                under: try table.take(wire.passphrase),
                passcode: wire.hasPasscode ? try table.take(wire.passcode) : nil,
                includesNonExtractable: wire.includesNonExtractable)
        case .recordBackup(let nothing): self = try .recordBackup.with(nothing)
        case .restore(let wire):
            try requireKnown(wire)
            self = .restore(
                under: try table.take(wire.passphrase),
                passcode: wire.hasPasscode ? try table.take(wire.passcode) : nil,
                merges: wire.merges, dryRun: wire.dryRun)
        case .piece(let bytes): self = .piece(Array(bytes))
        case .readLog(let wire):
            try requireKnown(wire)
            guard !wire.hasSince || wire.since.isFinite else { throw .malformed("a time is not finite") }
            self = .readLog(after: wire.after, since: wire.hasSince ? wire.since : nil)
        case .verifyLog(let nothing): self = try .verifyLog.with(nothing)
        case .openSession(let wire):
            try requireKnown(wire)
            self = .openSession(wire.hasPasscode ? try table.take(wire.passcode) : nil)
        case .generateKey(let wire): self = .generateKey(try wire.decode(&table))
        case .publicKey(let reference): self = .publicKey(of: try PersistentReference(wire: reference))
        case .useKey(let wire): self = try wire.decode(&table)
        case .exportKey(let reference): self = .exportKey(try PersistentReference(wire: reference))
        case nil: throw .malformed("a request without an operation")
        }
    }

    private func with(_ nothing: WireNothing) throws(WireError) -> Request {
        try requireKnown(nothing)
        return self
    }
}

// MARK: Parts

extension WireHello {
    fileprivate init(_ hello: Request.Hello) {
        self.init()
        version = hello.version
        executable = hello.claim.executable
        isUserCommand = hello.claim.isUserCommand
        hasIdentity_p = hello.claim.declaredGroups != nil
        groups = hello.claim.declaredGroups ?? []
    }

    fileprivate func decode() throws(WireError) -> Request.Hello {
        // Check the version first: a newer client may send fields that are unknown here.
        guard version == WireVersion.current else { throw .version(version) }
        try requireKnown(self)
        guard hasIdentity_p || groups.isEmpty else { throw .malformed("groups without a declared identity") }
        guard executable.utf8.count <= WireNames.maxPathLength else {
            throw .malformed("the path of a program is too long")
        }
        guard groups.count <= WireNames.maxCount else { throw .malformed("a program declares \(groups.count) groups") }
        for group in groups { try WireNames.check(group) }
        return Request.Hello(
            version: version,
            claim: CallerIdentity(
                executable: executable, declaredGroups: hasIdentity_p ? groups : nil, isUserCommand: isUserCommand))
    }
}

extension WireCopyMatching {
    fileprivate init(_ query: ItemQuery, _ returning: ReturnTypes) {
        self.init()
        self.query = WireQuery(query)
        self.returning = UInt32(returning.rawValue)
    }

    fileprivate func decodedReturning() throws(WireError) -> ReturnTypes {
        guard returning < 16 else { throw .malformed("unknown return types \(returning)") }
        return ReturnTypes(rawValue: UInt8(returning))
    }
}

extension WireUpdateMatching {
    fileprivate init(_ query: ItemQuery, _ update: ItemUpdate, _ collector: inout SecretCollector) {
        self.init()
        self.query = WireQuery(query)
        self.update = WireUpdate(update, &collector)
    }
}

extension WireRepair {
    fileprivate init(_ action: RepairAction, _ dryRun: Bool) {
        self.init()
        self.action =
            switch action {
            case .moveDamaged: 1
            case .emptyQuarantine: 2
            }
        self.dryRun = dryRun
    }

    fileprivate func decode() throws(WireError) -> Request {
        try requireKnown(self)
        switch action {
        case 1: return .repair(.moveDamaged, dryRun: dryRun)
        case 2: return .repair(.emptyQuarantine, dryRun: dryRun)
        default: throw .malformed("unknown repair \(action)")
        }
    }
}

extension WireAuthorized {
    fileprivate init(_ passcode: SharedSecret?, _ collector: inout SecretCollector) {
        self.init()
        if let passcode { self.passcode = collector.append(passcode) }
    }

    fileprivate func decode(_ table: inout SecretTable) throws(WireError) -> SharedSecret? {
        try requireKnown(self)
        return hasPasscode ? try table.take(passcode) : nil
    }
}

extension WireSettings {
    init(_ settings: KeybagSettings) {
        self.init()
        graceSeconds = UInt32(settings.graceSeconds)
        lockInterval = settings.lockInterval
        locksOnSleep = settings.locksOnSleep
        wipesAfterTen = settings.wipesAfterTen
    }

    func decode() throws(WireError) -> KeybagSettings {
        try requireKnown(self)
        return KeybagSettings(
            graceSeconds: try number(graceSeconds, "the grace period"), lockInterval: lockInterval,
            locksOnSleep: locksOnSleep,
            wipesAfterTen: wipesAfterTen)
    }
}
