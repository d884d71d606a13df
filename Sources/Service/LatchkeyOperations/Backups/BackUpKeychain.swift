// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService
package import SecretMemory

/// Writes every item that may leave the keychain, encrypted under the backup's own passphrase. The
/// file is sent in pieces, before the answer.
package struct BackUpKeychain: KeychainOperation {
    package let passphrase: SharedSecret
    /// The passcode of the keychain, if one is set.
    package let passcode: SharedSecret?
    package let contents: BackupContents

    package init(under passphrase: SharedSecret, passcode: SharedSecret?, including contents: BackupContents = []) {
        self.passphrase = passphrase
        self.passcode = passcode
        self.contents = contents
    }

    package static let traits: OperationTraits = [.administers, .accessesAllGroups]

    package var audit: AuditDetails? { AuditDetails("backup", includesPasscode: passcode != nil) }

    package func run(in context: some OperationContext) throws(KeychainError) -> BackupReport {
        let permit = try context.acquireSpool()
        defer { withExtendedLifetime(permit) {} }
        let (service, progress) = (try context.service, context.progress)
        guard let spool = try context.openSpool() else {
            return try service.backups.write(
                under: passphrase, passcode: passcode, including: contents,
                to: { (bytes) throws(KeychainError) in try send(Array(bytes), in: context) }, progress: progress)
        }
        let report = try context.slow(.derivation) { () throws(KeychainError) in
            try service.backups.write(
                under: passphrase, passcode: passcode, including: contents,
                to: { (bytes) throws(KeychainError) in try spool.write(bytes) }, progress: progress)
        }
        spool.rewind()
        while let piece = try spool.nextPiece() { try send(piece, in: context) }
        return report
    }

    private func send(_ piece: [UInt8], in context: some OperationContext) throws(KeychainError) {
        guard context.send(BackupPiece(piece)) else {
            throw KeychainError(.io, "the client disconnected before the backup was complete")
        }
    }
}

extension BackupReport: ResponseContent {
    package var auditedCount: Int { portable + deviceBound }
}

/// The next bytes of a backup.
package struct BackupPiece: ResponseContent, Equatable {
    package let bytes: [UInt8]

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    package var moreFollows: Bool { true }
}

extension OperationContext {
    /// Acquires the right to one backup or restoration.
    func acquireSpool() throws(KeychainError) -> OperationPermit {
        guard let permit = acquire(.spool) else {
            throw KeychainError(
                .notAvailable, "another backup or restore of this user is in progress", hint: "wait until it has ended")
        }
        return permit
    }
}

extension OperationPerformer {
    /// Writes every item that may leave the keychain, encrypted under the backup's own passphrase.
    ///
    /// - Parameters:
    ///   - passcode: the passcode of the keychain, if one is set.
    ///   - contents: the contents in addition to the items. Non-extractable keys are omitted, and listed in the report,
    ///     unless this or the passcode includes them.
    ///   - sink: receives the bytes in order; an error that it throws ends the backup.
    package func backup(
        under passphrase: SharedSecret, passcode: SharedSecret?, including contents: BackupContents = [],
        to sink: @escaping BackupSink, progress: @escaping ChangeProgress
    ) throws(KeychainError) -> BackupReport {
        let exchange = Exchange(
            progress: progress,
            take: { (content) throws(KeychainError) in
                guard let piece = content as? BackupPiece else { throw .unexpectedResponse }
                try piece.write(to: sink)
            })
        return try perform(BackUpKeychain(under: passphrase, passcode: passcode, including: contents), exchange)
    }
}

extension BackupPiece {
    fileprivate func write(to sink: BackupSink) throws(KeychainError) {
        var problem: KeychainError?
        bytes.withUnsafeBytes { buffer in
            do throws(KeychainError) { try sink(buffer) } catch { problem = error }
        }
        if let problem { throw problem }
    }
}

// MARK: Coding

extension BackUpKeychain {
    init(_ wire: WireBackup, _ secrets: inout SecretTable) throws(WireError) {
        try requireKnown(wire)
        passphrase = try secrets.take(wire.passphrase)
        passcode = wire.hasPasscode ? try secrets.take(wire.passcode) : nil
        var contents: BackupContents = []
        if wire.includesNonExtractable { contents.insert(.nonExtractableKeys) }
        if wire.includesFiles { contents.insert(.files) }
        self.contents = contents
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation {
        var wire = WireBackup()
        wire.passphrase = secrets.append(passphrase)
        if let passcode { wire.passcode = secrets.append(passcode) }
        wire.includesNonExtractable = contents.contains(.nonExtractableKeys)
        wire.includesFiles = contents.contains(.files)
        return .backup(wire)
    }
}

extension BackupReport {
    init(_ wire: WireBackupReport) throws(WireError) {
        try requireKnown(wire)
        self.init()
        portable = try number(wire.portable, "a number of items")
        deviceBound = try number(wire.deviceBound, "a number of items")
        staying = try number(wire.staying, "a number of items")
        damaged = try number(wire.damaged, "a number of items")
        files = try number(wire.files, "a number of files")
        missingFiles = try number(wire.missingFiles, "a number of files")
        notExtractable = try number(wire.notExtractable, "a number of items")
        guard wire.notExtractableNames.count <= Self.maxNames else { throw .malformed("a report has too many names") }
        notExtractableNames = wire.notExtractableNames
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireResponse.OneOf_Content {
        var wire = WireBackupReport()
        wire.portable = UInt64(portable)
        wire.deviceBound = UInt64(deviceBound)
        wire.staying = UInt64(staying)
        wire.damaged = UInt64(damaged)
        wire.files = UInt64(files)
        wire.missingFiles = UInt64(missingFiles)
        wire.notExtractable = UInt64(notExtractable)
        wire.notExtractableNames = notExtractableNames
        return .backedUp(wire)
    }
}

extension BackupPiece {
    package func encoded(_ secrets: inout SecretCollector) -> WireResponse.OneOf_Content { .piece(Data(bytes)) }
}
