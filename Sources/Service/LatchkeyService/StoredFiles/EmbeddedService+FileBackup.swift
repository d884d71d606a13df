// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import KeychainStore
internal import LinuxSystem

extension EmbeddedService {
    /// Returns the stored files, for a backup.
    func backedUpFiles() throws(KeychainError) -> BackupFileSource {
        let directory = try existingFiles()
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
    func whileFilesStay(
        _ contents: BackupContents, _ body: () throws(StoreError) -> BackupReport
    ) throws(KeychainError) -> BackupReport {
        guard contents.contains(.files), let directory = try existingFiles() else { return try run(body) }
        return try directory.whilePublishing { () throws(KeychainError) in try run(body) }
    }

    /// Runs a restoration that takes the files of the backup.
    func restoringFiles(
        dryRun: Bool, _ body: (BackupFileSink) throws(StoreError) -> RestoreReport
    ) throws(KeychainError) -> RestoreReport {
        guard let home, !dryRun else {
            let names = RestoredFileNames()
            var report = try run { () throws(StoreError) in
                try body(BackupFileSink(take: { name, _ throws(StoreError) in names.add(name) }, finish: {}))
            }
            report.files = names.count
            return report
        }
        let before = filesOfItems()
        let restoration = StoredFileRestoration(in: home, account: account)
        // Also files whose items were not restored, or were deleted.
        defer { removeFiles { (before.contains($0) || restoration.names.contains($0)) && hasNoUse($0) } }
        var report = try restoration.whilePublishing { () throws(KeychainError) in
            try run { () throws(StoreError) in try body(restoration.sink) }
        }
        report.files = restoration.names.count { !hasNoUse($0) }
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
