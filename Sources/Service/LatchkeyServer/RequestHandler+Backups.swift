// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyProtocol
internal import LatchkeyService
internal import SecretMemory

/// Backup and restore, which hold the file in a spool during the transfer.
extension RequestHandler {
    func backup(
        _ keychain: ServedKeychain, _ passphrase: SharedSecret, _ passcode: SharedSecret?, includesNonExtractable: Bool,
        _ reply: Reply
    ) throws(KeychainError) -> Response {
        let permit = try acquireSpool()
        defer { withExtendedLifetime(permit) {} }
        let spool = try spool(keychain)
        let report = try slow(.derivation) { () throws(KeychainError) in
            try keychain.service.backup(
                under: passphrase, passcode: passcode, includesNonExtractable: includesNonExtractable,
                to: { (bytes) throws(KeychainError) in try spool.write(bytes) }, progress: reply.progress)
        }
        spool.rewind()
        while true {
            var piece = [UInt8](repeating: 0, count: Self.partSize)
            let count = try readPiece(spool, &piece)
            guard count > 0 else { return .backedUp(report) }
            guard reply.trySend(.piece(Array(piece.prefix(count)))) else {
                throw KeychainError(.io, "the client disconnected before the backup was complete")
            }
        }
    }

    private func acquireSpool() throws(KeychainError) -> ConcurrencyLimiter.Permit {
        guard let permit = server.shared.spools.acquire(for: user, timeout: 0) else {
            throw KeychainError(
                .notAvailable, "another backup or restore of this user is in progress", hint: "wait until it has ended")
        }
        return permit
    }

    private func readPiece(_ spool: Spool, _ piece: inout [UInt8]) throws(KeychainError) -> Int {
        var outcome = Result<Int, KeychainError>.success(0)
        piece.withUnsafeMutableBytes { buffer in
            outcome = Result { () throws(KeychainError) in try spool.read(into: buffer) }
        }
        return try outcome.get()
    }

    func restore(
        _ keychain: ServedKeychain, _ passphrase: SharedSecret, _ passcode: SharedSecret?, merges: Bool, dryRun: Bool,
        _ identity: CallerIdentity, _ reply: Reply
    ) throws(KeychainError) -> Response {
        let permit = try acquireSpool()
        defer { withExtendedLifetime(permit) {} }
        let spool = try spool(keychain)
        guard reply.trySend(.ready) else {
            throw KeychainError(.io, "the client disconnected before it sent the backup")
        }
        while let piece = try reply.nextPiece() {
            var problem: KeychainError?
            piece.withUnsafeBytes { bytes in
                do throws(KeychainError) { try spool.write(bytes) } catch { problem = error }
            }
            if let problem { throw problem }
            guard reply.trySend(.ready) else {
                throw KeychainError(.io, "the client disconnected during the transfer of the backup")
            }
        }
        spool.rewind()
        let allowsAttestedGroups = identity.grade == .attested
        let (reader, user) = (server.reader, user)
        return try slow(.derivation) { () throws(KeychainError) in
            // Checked here, because the entitlements may have changed while the backup arrived and
            // waited.
            let accessesAttestedGroups = reader.canAttest(processesOf: user)
            try EmbeddedService.requireAdministrator(identity, accessesAttestedGroups: accessesAttestedGroups)
            return .restored(
                try keychain.service.restore(
                    under: passphrase, passcode: passcode, merges: merges, dryRun: dryRun,
                    allowsAttestedGroups: allowsAttestedGroups,
                    from: { (buffer) throws(KeychainError) in try spool.read(into: buffer) }, progress: reply.progress))
        }
    }

    private func spool(_ keychain: ServedKeychain) throws(KeychainError) -> Spool {
        try Spool(in: try stateDirectory(keychain), limit: keychain.quota?.bytes ?? Spool.maxLength)
    }

    private func stateDirectory(_ keychain: ServedKeychain) throws(KeychainError) -> String {
        guard let home = keychain.home else {
            throw KeychainError(.notAvailable, "a keychain in memory cannot be backed up or restored")
        }
        return home.stateDirectory
    }
}
