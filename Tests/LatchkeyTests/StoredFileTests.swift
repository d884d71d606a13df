// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import KeychainModel
import KeychainTesting
import Latchkey
import LatchkeyOperations
import LatchkeyService
import SecretMemory
import Synchronization
import Testing

/// Files in the keychain's own directory, under an item each.
@Suite("Stored files")
struct StoredFileTests {
    private static let item = GenericPassword(service: "scans", account: "passport")
    /// Longer than a part, and not a multiple of anything.
    private static let content = Data((0..<700_001).map { UInt8(truncatingIfNeeded: $0 &* 7) })
    private static let backends = Backend.everywhere.filter { $0 != .ephemeral }

    private func files(of keychain: TestKeychain) throws -> [String] {
        let root = try #require(keychain.directory).path
        let all = try FileManager.default.subpathsOfDirectory(atPath: root)
        return all.filter { $0.contains("data/files/") }.map { "\(root)/\($0)" }.sorted()
    }

    @Test("A stored file is read whole, in parts and as a stream, and deleted with its item", arguments: backends)
    func whole(_ backend: Backend) async throws {
        let (keychain, directory) = (try TestKeychain(backend), try TemporaryDirectory())
        try Self.content.write(to: URL(filePath: directory.path + "/plain"))
        let stored = try keychain.run(groups: ["G1"]) {
            try Keychain.default.storeFile(directory.path + "/plain", as: Self.item)
            let file = try Keychain.default.storedFile(Self.item)
            #expect(file.length == UInt64(Self.content.count))
            #expect(try file.contents() == Self.content)
            #expect(try file.read(at: 300_000, count: 5) == Self.content[300_000..<300_005])
            #expect(try file.read(at: 700_000, count: 100) == Self.content.suffix(1))
            #expect(try file.read(at: 900_000, count: 100).isEmpty)
            #expect(try Keychain.default.items(GenericPassword.self).count == 1)
            return try files(of: keychain)
        }
        #expect(stored.count == 1)
        // Nothing of it is in the clear, and no other user reads it.
        let raw = try Data(contentsOf: URL(filePath: try #require(stored.first)))
        #expect(raw.range(of: Self.content.prefix(64)) == nil && raw.count > Self.content.count)
        var status = stat()
        #expect(lstat(stored[0], &status) == 0 && status.st_mode & 0o077 == 0)
        try keychain.run(groups: ["G1"]) { try Keychain.default.delete(Self.item) }
        #expect(try files(of: keychain).isEmpty)
        keychain.run(groups: ["G1"]) {
            let error = #expect(throws: KeychainError.self) { try Keychain.default.storedFile(Self.item) }
            #expect(error?.status == .itemNotFound)
        }
    }

    @Test("A stream of a stored file has its content")
    func stream() async throws {
        try await TestKeychain(.onDisk).runTask(groups: ["G1"]) {
            try Keychain.default.storeFile(Self.content, as: Self.item)
            var all = Data()
            for try await part in try Keychain.default.storedFile(Self.item).chunks { all += part }
            #expect(all == Self.content)
        }
    }

    @Test("A file replaces another one only if that is requested; the former content is removed", arguments: backends)
    func replacing(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        try keychain.run(groups: ["G1"]) {
            try Keychain.default.storeFile(Data("old".utf8), as: Self.item)
            let old = try Keychain.default.storedFile(Self.item)
            let error = #expect(throws: KeychainError.self) {
                try Keychain.default.storeFile(Data("new".utf8), as: Self.item)
            }
            #expect(error?.status == .duplicateItem)
            #expect(try files(of: keychain).count == 1)
            #expect(try old.contents() == Data("old".utf8))
            try Keychain.default.storeFile(Data("new".utf8), as: Self.item, replacing: true)
            #expect(try files(of: keychain).count == 1)
            #expect(try Keychain.default.storedFile(Self.item).contents() == Data("new".utf8))
            // A reader does not get parts of two contents.
            let stale = #expect(throws: KeychainError.self) { try old.contents() }
            #expect(stale?.status == .notAvailable)
        }
    }

    @Test("A password is not replaced by a file, and is not read as one", arguments: backends)
    func passwords(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        try keychain.run(groups: ["G1"]) {
            try Keychain.default.set(Self.item, to: "secret")
            let error = #expect(throws: KeychainError.self) {
                try Keychain.default.storeFile(Data("new".utf8), as: Self.item, replacing: true)
            }
            #expect(error?.status == .duplicateItem)
            #expect(try Keychain.default.string(for: Self.item) == "secret")
            let other = #expect(throws: KeychainError.self) { try Keychain.default.storedFile(Self.item) }
            #expect(other?.status == .param)
        }
        #expect(try files(of: keychain).isEmpty)
    }

    @Test("A stored file obeys the lock as its item does", arguments: backends)
    func lock(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        let classes: [(ProtectionClass, Bool)] = [
            (.whenUnlocked, false), (.whenPasscodeSetThisDeviceOnly, false), (.afterFirstUnlock, true),
            (.alwaysThisDeviceOnly, true),
        ]
        func item(_ protection: ProtectionClass) -> GenericPassword {
            GenericPassword(service: "s", account: protection.rawValue, protection: protection)
        }
        try keychain.run(groups: ["G1"]) {
            try Keychain.default.setPasscode("correct horse")
            for (protection, _) in classes {
                try Keychain.default.storeFile(Data("content".utf8), as: item(protection))
            }
            let open = try Keychain.default.storedFile(item(.whenUnlocked))
            try Keychain.default.lock(immediately: true)
            for (protection, isReadable) in classes {
                let read = Result { try Keychain.default.storedFile(item(protection)).contents() }
                switch read {
                case .success(let content): #expect(isReadable && content == Data("content".utf8))
                case .failure(let error):
                    #expect(!isReadable && (error as? KeychainError)?.status == .interactionNotAllowed)
                }
            }
            let handle = #expect(throws: KeychainError.self) { try open.contents() }
            #expect(handle?.status == .interactionNotAllowed)
            let new = #expect(throws: KeychainError.self) {
                try Keychain.default.storeFile(
                    Data("x".utf8), as: GenericPassword(service: "n", protection: .whenUnlocked))
            }
            #expect(new?.status == .interactionNotAllowed)
            // It can be deleted without its key.
            try Keychain.default.delete(Self.query(item(.whenUnlocked)))
            #expect(try files(of: keychain).count == classes.count - 1)
            try Keychain.default.unlock(passcode: "correct horse")
            #expect(try Keychain.default.storedFile(item(.afterFirstUnlock)).contents() == Data("content".utf8))
        }
    }

    private static func query(_ item: GenericPassword) -> GenericPassword {
        GenericPassword(service: item.service, account: item.account)
    }

    @Test("A program of another access group neither reads nor replaces a stored file", arguments: backends)
    func groups(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        try keychain.run(groups: ["G1"]) { try Keychain.default.storeFile(Data("one".utf8), as: Self.item) }
        try keychain.run(groups: ["G2"]) {
            let error = #expect(throws: KeychainError.self) { try Keychain.default.storedFile(Self.item) }
            #expect(error?.status == .itemNotFound)
            // Its own file of the same name.
            try Keychain.default.storeFile(Data("two".utf8), as: Self.item, replacing: true)
        }
        try keychain.run(groups: ["G1"]) { () throws in
            #expect(try Keychain.default.storedFile(Self.item).contents() == Data("one".utf8))
        }
        #expect(try files(of: keychain).count == 2)
    }

    @Test("An impossible stored file is refused by name", arguments: backends)
    func refused(_ backend: Backend) throws {
        let (keychain, directory) = (try TestKeychain(backend), try TemporaryDirectory())
        keychain.run(groups: ["G1"]) {
            let refused = [
                GenericPassword(service: "s", accessControl: .userPresence),
                GenericPassword(service: "s", isSynchronizable: true),
            ]
            for item in refused {
                let error = #expect(throws: KeychainError.self) {
                    try Keychain.default.storeFile(Data("x".utf8), as: item)
                }
                #expect(error?.status == .param)
            }
            for path in [directory.path, directory.path + "/missing", "/dev/zero"] {
                #expect(throws: KeychainError.self) { try Keychain.default.storeFile(path, as: Self.item) }
            }
        }
        #expect(try files(of: keychain).isEmpty)
    }

    @Test("Several programs store, replace and delete files at the same time", arguments: backends)
    func concurrent(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        let failures = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 8) { number in
            keychain.run(groups: ["G1"]) {
                do {
                    for round in 0..<3 {
                        let item = GenericPassword(service: "s", account: "\(number % 6)")
                        let content = Data(repeating: UInt8(number), count: 100_000 + round)
                        try Keychain.default.storeFile(content, as: item, replacing: true)
                    }
                } catch {
                    failures.withLock { $0.append("\(error)") }
                }
            }
        }
        #expect(failures.withLock { $0 } == [])
        try keychain.run(groups: ["G1"]) {
            for number in 0..<6 {
                let item = GenericPassword(service: "s", account: "\(number)")
                #expect(try Keychain.default.storedFile(item).contents().count == 100_002)
            }
            try Keychain.default.delete(GenericPassword(service: "s", account: "0"))
        }
        // Files left while another thread published are removed at the next opening.
        #expect(try files(of: keychain.reopened()).count == 5)
    }

    @Test("A keychain in memory stores no files")
    func ephemeral() throws {
        let error = #expect(throws: KeychainError.self) {
            try Keychain.ephemeral().storeFile(Data("x".utf8), as: Self.item)
        }
        #expect(error?.status == .notAvailable)
    }

    @Test("A changed, swapped or missing file is refused as damaged")
    func damaged() throws {
        let keychain = try TestKeychain(.onDisk)
        let other = GenericPassword(service: "other")
        try keychain.run(groups: ["G1"]) {
            try Keychain.default.storeFile(Self.content, as: Self.item)
            let first = try #require(try files(of: keychain).first)
            try Keychain.default.storeFile(Self.content, as: other)
            let second = try #require(try files(of: keychain).first { $0 != first })
            let (one, two) = (try Data(contentsOf: URL(filePath: first)), try Data(contentsOf: URL(filePath: second)))
            var flipped = one
            flipped[9000] ^= 1
            for bytes in [flipped, two, one.prefix(5000), Data()] {
                try bytes.write(to: URL(filePath: first))
                let error = #expect(throws: KeychainError.self) {
                    try Keychain.default.storedFile(Self.item).contents()
                }
                #expect(error?.status == .decode || error?.status == .param, "\(String(describing: error))")
            }
            #expect(unlink(first) == 0)
            let missing = #expect(throws: KeychainError.self) { try Keychain.default.storedFile(Self.item) }
            #expect(missing?.status == .decode && missing?.hint != nil)
            #expect(try Keychain.default.storedFile(other).contents() == Self.content)
        }
    }

    @Test("Leftovers of a killed process are removed: a file without its item, and a former content")
    func sweep() throws {
        let keychain = try TestKeychain(.onDisk)
        let reopened = try keychain.run(groups: ["G1"]) {
            try Keychain.default.storeFile(Data("content".utf8), as: Self.item)
            let file = try #require(try files(of: keychain).first)
            let name = try #require(file.split(separator: "/").last).split(separator: "-")
            let directory = file.split(separator: "/").dropLast().joined(separator: "/")
            let zeros = String(repeating: "0", count: 32)
            for leftover in ["\(name[0])-\(zeros)", "\(zeros)-\(name[1])"] {
                try FileManager.default.copyItem(atPath: file, toPath: "/\(directory)/\(leftover)")
            }
            #expect(try files(of: keychain).count == 3)
            return try keychain.reopened()
        }
        #expect(try files(of: reopened).count == 1)
        try reopened.run(groups: ["G1"]) { () throws in
            #expect(try Keychain.default.storedFile(Self.item).contents() == Data("content".utf8))
        }
    }

    @Test("A process with a replaced database removes no file, nor does a new database")
    func replacedDatabase() throws {
        let keychain = try TestKeychain(.onDisk)
        let place = try #require(keychain.directory)
        try keychain.run(groups: ["G1"]) { try Keychain.default.storeFile(Self.content, as: Self.item) }
        let data = place.path + "/data"
        for name in try FileManager.default.contentsOfDirectory(atPath: data) where name.hasPrefix("keychain.db") {
            try FileManager.default.moveItem(atPath: "\(data)/\(name)", toPath: "\(place.path)/\(name)")
        }
        let key = place.path + "/state/device.key"
        try FileManager.default.moveItem(atPath: key, toPath: place.path + "/device.key")
        let fresh = try TestKeychain(in: place, clock: keychain.clock)
        #expect(try files(of: fresh).count == 1)
        fresh.service.close()
        // The database of the old process is not at its path any more.
        keychain.run(groups: ["G1"]) { _ = try? Keychain.default.delete(Self.item) }
        #expect(try files(of: keychain).count == 1)
        keychain.service.close()
    }

    @Test("A password with the description of a file is not replaced by one")
    func description() throws {
        let keychain = try TestKeychain(.onDisk)
        let caller = CallerIdentity(executable: "/usr/bin/example", declaredGroups: ["G1"])
        _ = try keychain.service.by(caller).add(
            ItemAddition(
                .genericPassword,
                attributes: [
                    .service: .string(Self.item.service), .account: .string(Self.item.account),
                    .itemDescription: .string("file"),
                ], secrets: ItemSecrets(data: SharedSecret(copying: "secret".utf8))))
        try keychain.run(groups: ["G1"]) {
            let error = #expect(throws: KeychainError.self) {
                try Keychain.default.storeFile(Data("new".utf8), as: Self.item, replacing: true)
            }
            #expect(error?.status == .duplicateItem)
            #expect(try Keychain.default.string(for: Self.item) == "secret")
            #expect(try files(of: keychain).isEmpty)
            // A file has no use after its item gets other data.
            let other = GenericPassword(service: "other")
            try Keychain.default.storeFile(Data("new".utf8), as: other)
            try Keychain.default.set(other, to: "secret")
        }
        #expect(try files(of: keychain.reopened()).isEmpty)
    }

    @Test("No file is removed while another process stores one")
    func locked() throws {
        let keychain = try TestKeychain(.onDisk)
        let other = GenericPassword(service: "other")
        try keychain.run(groups: ["G1"]) {
            try Keychain.default.storeFile(Data("content".utf8), as: Self.item)
            try Keychain.default.storeFile(Data("other".utf8), as: other)
            let file = URL(filePath: try #require(try files(of: keychain).first))
            let directory = file.deletingLastPathComponent()
            let zeros = String(repeating: "0", count: 32)
            try FileManager.default.copyItem(at: file, to: directory.appending(path: "\(zeros)-\(zeros)"))
            let descriptor = Glibc.open(directory.path(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            #expect(descriptor >= 0 && flock(descriptor, LOCK_SH) == 0)
            try Keychain.default.delete(other)
            #expect(try files(of: keychain).count == 3)
            #expect(close(descriptor) == 0)
            try Keychain.default.delete(Self.item)
        }
        // The files that could not be removed then.
        #expect(try files(of: keychain.reopened()).isEmpty)
    }

    // MARK: Backups

    private static let phrase = SharedSecret(copying: "a long passphrase".utf8)

    private static func backup(_ keychain: TestKeychain, _ contents: BackupContents) throws -> (
        [UInt8], BackupReport
    ) {
        let backup = BackupInMemory()
        let report = try keychain.service.administrator.backup(
            under: phrase, passcode: nil, including: contents, to: backup.write, progress: { _, _ in })
        return (backup.bytes, report)
    }

    private static func restore(
        _ backup: [UInt8], into keychain: TestKeychain, merges: Bool = true, dryRun: Bool = false
    ) throws -> RestoreReport {
        try keychain.service.administrator.restore(
            under: phrase, passcode: nil, merges: merges, dryRun: dryRun,
            from: BackupInMemory(backup).read(into:), progress: { _, _ in })
    }

    @Test(
        "A backup has the files only by choice; on another device only files of movable items open",
        arguments: backends)
    func backups(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        let bound = GenericPassword(service: "bound", protection: .whenUnlockedThisDeviceOnly)
        try keychain.run(groups: ["G1"]) {
            try Keychain.default.storeFile(Self.content, as: Self.item)
            try Keychain.default.storeFile(Data("here".utf8), as: bound)
        }
        let (small, without) = try Self.backup(keychain, [])
        #expect(without.files == 0 && small.count < Self.content.count && small[9] == 3)
        let (large, with) = try Self.backup(keychain, .files)
        #expect(with.files == 2 && with.missingFiles == 0 && large.count > Self.content.count && large[9] == 3)

        let other = try TestKeychain(backend)
        #expect(try Self.restore(large, into: other, dryRun: true).files == 2)
        #expect(try files(of: other).isEmpty)
        #expect(try Self.restore(large, into: other).files == 1)
        try other.run(groups: ["G1"]) { () throws in
            #expect(try Keychain.default.storedFile(Self.item).contents() == Self.content)
            #expect(throws: KeychainError.self) { try Keychain.default.storedFile(bound) }
        }
        // Only the file of the restored item stays.
        #expect(try files(of: other).count == 1)

        // On the same device both open again, also after everything was deleted.
        try keychain.run(groups: ["G1"]) {
            try Keychain.default.delete(Self.item)
            try Keychain.default.delete(bound)
        }
        #expect(try files(of: keychain).isEmpty)
        #expect(try Self.restore(large, into: keychain, merges: false).files == 2)
        try keychain.run(groups: ["G1"]) { () throws in
            #expect(try Keychain.default.storedFile(Self.item).contents() == Self.content)
            #expect(try Keychain.default.storedFile(bound).contents() == Data("here".utf8))
        }
    }

    @Test("A backup without its end restores no file")
    func damagedBackup() throws {
        let keychain = try TestKeychain(.onDisk)
        try keychain.run(groups: ["G1"]) { try Keychain.default.storeFile(Self.content, as: Self.item) }
        let (backup, _) = try Self.backup(keychain, .files)
        let other = try TestKeychain(.onDisk)
        for length in [backup.count - 1, backup.count - 70_000, 400_000] {
            #expect(throws: KeychainError.self) { try Self.restore(Array(backup.prefix(length)), into: other) }
            #expect(try files(of: other).isEmpty)
            #expect(try other.service.administrator.status().counts.isEmpty)
        }
    }

    @Test("A backup names a file that is missing, and saves its item")
    func missing() throws {
        let keychain = try TestKeychain(.onDisk)
        try keychain.run(groups: ["G1"]) { try Keychain.default.storeFile(Self.content, as: Self.item) }
        #expect(unlink(try #require(try files(of: keychain).first)) == 0)
        let (_, report) = try Self.backup(keychain, .files)
        #expect(report.files == 0 && report.missingFiles == 1 && report.portable == 1)
    }
}
