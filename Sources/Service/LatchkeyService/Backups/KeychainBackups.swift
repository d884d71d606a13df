// SPDX-License-Identifier: Apache-2.0

internal import Keybag
public import KeychainModel
internal import KeychainStore
internal import LinuxSystem
public import SecretMemory

/// Backups of a keychain, and their restoration.
public struct KeychainBackups: Sendable {
    let keychain: OpenKeychain
    let sweep: FileSweep

    public func write(
        under passphrase: SharedSecret, passcode: SharedSecret?, including contents: BackupContents = [],
        to sink: @escaping BackupSink,
        progress: ChangeProgress
    ) throws(KeychainError) -> BackupReport {
        let (passphrase, passcode) = (try Passcode.of(passphrase), try Passcode.of(passcode))
        do {
            try passphrase.requireNew()
        } catch {
            throw KeychainError(error)
        }
        let files = contents.contains(.files) ? try backedUpFiles() : nil
        return try whileFilesStay(contents) { () throws(StoreError) in
            try keychain.store.backups.write(
                under: passphrase, passcode: passcode, including: contents, files: files,
                cost: keychain.passcodeCost, now: keychain.now(),
                to: { (bytes) throws(StoreError) in
                    do throws(KeychainError) { try sink(bytes) } catch { throw .refused(error) }
                }, progress: progress)
        }
    }

    /// Stores that a backup was made now, for `latchkey doctor`.
    public func recordDate() {
        if let home = keychain.home {
            LastBackupFile.set(in: home, secondsSince1970: Int(keychain.now()) + Clocks.secondsBetweenEpochs)
        }
    }

    public func restore(
        under passphrase: SharedSecret, passcode: SharedSecret?, merges: Bool, dryRun: Bool,
        allowsAttestedGroups: Bool = false,
        from source: @escaping BackupSource, progress: ChangeProgress
    ) throws(KeychainError) -> RestoreReport {
        let (passphrase, passcode) = (try Passcode.of(passphrase), try Passcode.of(passcode))
        return try restoringFiles(dryRun: dryRun) { (files) throws(StoreError) in
            try keychain.store.backups.restore(
                under: passphrase, passcode: passcode, merges: merges, dryRun: dryRun, files: files,
                // A class key that a backup names like a future one of this keychain would be used for files.
                keeps: { [identifier = keychain.store.keychainIdentifier] in FileClassKeyName.isOwn($0, identifier) },
                refusal: { [allowsAlwaysOpen = keychain.allowsAlwaysOpen] record in
                    ItemRules.refusal(
                        ofRestored: record, allowsAttestedGroups: allowsAttestedGroups,
                        allowsAlwaysOpen: allowsAlwaysOpen)
                },
                from: { (buffer) throws(StoreError) in
                    do throws(KeychainError) { return try source(buffer) } catch { throw .refused(error) }
                }, progress: progress)
        }
    }

    // MARK: Stored files

    /// Returns the stored files, for a backup.
    private func backedUpFiles() throws(KeychainError) -> BackupFileSource {
        let directory = try keychain.existingFiles()
        return BackupFileSource(
            name: { record in
                StoredFileReference(record.secrets?.data).map {
                    StoredFileName(item: record.identifier, file: $0.file).bytes
                }
            },
            open: { (bytes) throws(StoreError) in
                guard let name = StoredFileName(bytes: bytes), let directory else { return nil }
                return try StoredFileReader(name, in: directory)?.next
            })
    }

    /// Runs a backup. If it contains files, none of them is removed meanwhile.
    private func whileFilesStay(
        _ contents: BackupContents, _ body: () throws(StoreError) -> BackupReport
    ) throws(KeychainError) -> BackupReport {
        guard contents.contains(.files), let directory = try keychain.existingFiles() else {
            return try keychain.run(body)
        }
        return try directory.whilePublishing { () throws(KeychainError) in try keychain.run(body) }
    }

    /// Runs a restoration that takes the files of the backup.
    private func restoringFiles(
        dryRun: Bool, _ body: (BackupFileSink) throws(StoreError) -> RestoreReport
    ) throws(KeychainError) -> RestoreReport {
        guard let home = keychain.home, !dryRun else {
            let names = RestoredFileNames()
            var report = try keychain.run { () throws(StoreError) in
                try body(BackupFileSink(take: { name, _ throws(StoreError) in names.add(name) }, finish: {}))
            }
            report.files = names.count
            return report
        }
        let before = sweep.filesOfItems()
        let restoration = StoredFileRestoration(in: home, account: keychain.account)
        // Includes files of items that were not restored, or were deleted.
        defer { sweep.removeFiles { (before.contains($0) || restoration.names.contains($0)) && sweep.hasNoUse($0) } }
        var report = try restoration.whilePublishing { () throws(KeychainError) in
            try keychain.run { () throws(StoreError) in try body(restoration.sink) }
        }
        report.files = restoration.names.count { !sweep.hasNoUse($0) }
        return report
    }
}

/// Reads a stored file as it is, encrypted.
private final class StoredFileReader {
    private let descriptor: OwnedDescriptor
    private let path: String

    /// - Returns: nil if the file does not exist.
    init?(_ name: StoredFileName, in directory: StoredFileDirectory) throws(StoreError) {
        path = directory.path(of: name)
        do throws(SystemError) {
            guard let opened = try directory.open(name) else { return nil }
            descriptor = opened
        } catch {
            throw .system(error)
        }
    }

    func next() throws(StoreError) -> [UInt8]? {
        do throws(SystemError) {
            let bytes = try descriptor.read(upTo: StoredFilePart.maxLength, path: path)
            return bytes.isEmpty ? nil : bytes
        } catch {
            throw .system(error)
        }
    }
}

/// Counts the files of a backup that is only tried.
private final class RestoredFileNames {
    private var last: [UInt8] = []
    private(set) var count = 0

    func add(_ name: [UInt8]) {
        guard name != last else { return }
        (last, count) = (name, count + 1)
    }
}
