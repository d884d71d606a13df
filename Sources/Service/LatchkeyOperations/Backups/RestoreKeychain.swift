// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService
package import SecretMemory

/// Restores a backup into the keychain: all of it, or nothing. The file arrives in pieces
/// (``SendPiece``), after the daemon has answered that it is ready.
package struct RestoreKeychain: KeychainOperation {
    package let passphrase: SharedSecret
    /// The passcode of the keychain, if one is set.
    package let passcode: SharedSecret?
    package let merges: Bool
    package let dryRun: Bool

    package init(under passphrase: SharedSecret, passcode: SharedSecret?, merges: Bool, dryRun: Bool) {
        self.passphrase = passphrase
        self.passcode = passcode
        self.merges = merges
        self.dryRun = dryRun
    }

    package static let traits: OperationTraits = [.changes, .administers, .accessesAllGroups]

    package var audit: AuditDetails? {
        AuditDetails(dryRun ? "restore-rehearsal" : "restore", includesPasscode: passcode != nil)
    }

    package func run(in context: some OperationContext) throws(KeychainError) -> RestoreReport {
        let permit = try context.acquireSpool()
        defer { withExtendedLifetime(permit) {} }
        let (service, progress) = (try context.service, context.progress)
        let allowsAttestedGroups = AccessPolicy.restoresAttestedGroups(context.caller)
        guard let spool = try context.openSpool() else {
            var pieces = PieceBuffer()
            return try service.backups.restore(
                under: passphrase, passcode: passcode, merges: merges, dryRun: dryRun,
                allowsAttestedGroups: allowsAttestedGroups,
                from: { (buffer) throws(KeychainError) in
                    try pieces.read(into: buffer) { () throws(KeychainError) in try context.nextPiece() }
                }, progress: progress)
        }
        try receive(into: spool, from: context)
        let requireAccess = try context.accessCheck(Self.traits)
        return try context.slow(.derivation) { () throws(KeychainError) in
            // Checked here again, because the entitlements may have changed while the backup
            // arrived and waited.
            try requireAccess()
            return try service.backups.restore(
                under: passphrase, passcode: passcode, merges: merges, dryRun: dryRun,
                allowsAttestedGroups: allowsAttestedGroups,
                from: { (buffer) throws(KeychainError) in try spool.read(into: buffer) }, progress: progress)
        }
    }

    private func receive(into spool: Spool, from context: some OperationContext) throws(KeychainError) {
        guard context.send(Ready()) else {
            throw KeychainError(.io, "the client disconnected before it sent the backup")
        }
        while let piece = try context.nextPiece() {
            try spool.write(piece)
            guard context.send(Ready()) else {
                throw KeychainError(.io, "the client disconnected during the transfer of the backup")
            }
        }
        spool.rewind()
    }
}

/// The received bytes of a backup that are not read yet.
private struct PieceBuffer {
    private var rest: ArraySlice<UInt8> = []

    /// - Returns: the number of bytes; 0 at the end.
    mutating func read(
        into buffer: UnsafeMutableRawBufferPointer, next: () throws(KeychainError) -> [UInt8]?
    ) throws(KeychainError) -> Int {
        if rest.isEmpty { rest = ArraySlice(try next() ?? []) }
        let part = rest.prefix(buffer.count)
        buffer.copyBytes(from: part)
        rest = rest.dropFirst(part.count)
        return part.count
    }
}

extension SendPiece {
    /// The next piece of a backup: at most 256 KiB.
    fileprivate init(from source: BackupSource) throws(KeychainError) {
        var piece = [UInt8](repeating: 0, count: ResponsePart.maxLength)
        var outcome = Result<Int, KeychainError>.success(0)
        piece.withUnsafeMutableBytes { buffer in
            outcome = Result { () throws(KeychainError) in try source(buffer) }
        }
        self.init(Array(piece.prefix(try outcome.get())))
    }
}

extension RestoreReport: ResponseContent {
    package var auditedCount: Int { added + replaced }
}

extension OperationPerformer {
    /// Restores a backup into the keychain: all of it, or nothing.
    ///
    /// - Parameters:
    ///   - merges: keeps existing items, and of two items with the same primary key the newer one;
    ///     otherwise all existing items are deleted first.
    ///   - dryRun: rolls everything back at the end.
    package func restore(
        under passphrase: SharedSecret, passcode: SharedSecret?, merges: Bool, dryRun: Bool,
        from source: @escaping BackupSource, progress: @escaping ChangeProgress
    ) throws(KeychainError) -> RestoreReport {
        try perform(
            RestoreKeychain(under: passphrase, passcode: passcode, merges: merges, dryRun: dryRun),
            Exchange(progress: progress, give: { () throws(KeychainError) in try SendPiece(from: source) }))
    }
}

// MARK: Coding

extension RestoreKeychain {
    init(_ wire: WireRestore, _ secrets: inout SecretTable) throws(WireError) {
        try requireKnown(wire)
        passphrase = try secrets.take(wire.passphrase)
        passcode = wire.hasPasscode ? try secrets.take(wire.passcode) : nil
        merges = wire.merges
        dryRun = wire.dryRun
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation {
        var wire = WireRestore()
        wire.passphrase = secrets.append(passphrase)
        if let passcode { wire.passcode = secrets.append(passcode) }
        wire.merges = merges
        wire.dryRun = dryRun
        return .restore(wire)
    }
}

extension RestoreReport {
    init(_ wire: WireRestoreReport) throws(WireError) {
        try requireKnown(wire)
        self.init()
        items = try number(wire.items, "a number of items")
        added = try number(wire.added, "a number of items")
        replaced = try number(wire.replaced, "a number of items")
        kept = try number(wire.kept, "a number of items")
        foreign = try number(wire.foreign, "a number of items")
        deleted = try number(wire.deleted, "a number of items")
        refused = try number(wire.refused, "a number of items")
        files = try number(wire.files, "a number of files")
        equal = try number(wire.equal, "a number of items")
        guard wire.refusals.count <= Self.maxReasons else { throw .malformed("a report has too many reasons") }
        refusals = wire.refusals
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireResponse.OneOf_Content {
        var wire = WireRestoreReport()
        wire.items = UInt64(items)
        wire.added = UInt64(added)
        wire.replaced = UInt64(replaced)
        wire.kept = UInt64(kept)
        wire.foreign = UInt64(foreign)
        wire.deleted = UInt64(deleted)
        wire.refused = UInt64(refused)
        wire.files = UInt64(files)
        wire.equal = UInt64(equal)
        wire.refusals = refusals
        return .restored(wire)
    }
}
