// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxSystem

/// Stores the attempt record.
protocol AttemptStorage: Sendable {
    /// Waits until no other thread and no other process verifies a passcode.
    func lock() throws(KeybagError) -> any AttemptLock
    /// Throws if a record could not be saved.
    func requireWritable() throws(KeybagError)
    /// Returns the record, or nil if there is none.
    func load() throws(KeybagError) -> [UInt8]?
    /// Saves the record durably before it returns; nil removes it.
    func save(_ record: [UInt8]?) throws(KeybagError)
}

/// The lock that is held while a passcode is verified.
protocol AttemptLock {
    func release()
}

/// Attempt storage in a file of mode 0600 beside the device key. The file is replaced atomically.
struct FileAttemptStorage: AttemptStorage {
    private let directory: PrivateDirectory

    init(_ directory: PrivateDirectory) {
        self.directory = directory
    }

    func lock() throws(KeybagError) -> any AttemptLock {
        do {
            return try FileLock(directory.appending(Self.lockName))
        } catch {
            // On a read-only file system no passcode is verified or changed, so no lock is needed.
            if error.code == EROFS { return NullLock() }
            throw .system(error)
        }
    }

    func requireWritable() throws(KeybagError) {
        let isReadOnly: Bool
        do {
            isReadOnly = try FileSystem.isReadOnly(at: directory.path)
        } catch {
            throw .system(error)
        }
        if isReadOnly { throw .attemptsReadOnly(path: directory.path) }
    }

    func load() throws(KeybagError) -> [UInt8]? {
        do {
            return try PrivateFile.read(directory.appending(Self.name), atMost: 4096)
        } catch {
            throw .system(error)
        }
    }

    func save(_ record: [UInt8]?) throws(KeybagError) {
        do {
            guard let record else { return try PrivateFile.remove(Self.name, in: directory) }
            try PrivateFile.replace(Self.name, in: directory, content: record)
        } catch {
            throw .system(error)
        }
    }

    static let name = "passcode.attempts"
    static let lockName = "passcode.lock"
}

extension FileLock: AttemptLock {}

private struct NullLock: AttemptLock {
    func release() {}
}

/// Attempt storage in the memory of this process.
final class InMemoryAttemptStorage: AttemptStorage {
    private let record = SystemMutex<[UInt8]?>(nil)
    private let semaphore = BinarySemaphore()

    func lock() throws(KeybagError) -> any AttemptLock {
        semaphore.acquire()
        return semaphore
    }

    func requireWritable() {}
    func load() throws(KeybagError) -> [UInt8]? { record.withLock { $0 } }
    func save(_ new: [UInt8]?) throws(KeybagError) { record.withLock { $0 = new } }
}

extension BinarySemaphore: AttemptLock {}
