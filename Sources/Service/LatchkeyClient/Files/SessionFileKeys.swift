// SPDX-License-Identifier: Apache-2.0

public import FileProtection
public import KeychainModel
public import KeychainSessions
internal import LatchkeyOperations
internal import LatchkeyService
internal import LinuxSystem

/// The keys of protected files from a keychain.
public final class SessionFileKeys: FileKeyProvider {
    /// Whether keys stay in the keychain's service, so that the service encrypts and decrypts every part.
    private let withholdsKeys: Bool
    private let open: @Sendable () throws(KeychainError) -> KeychainSession

    public init(
        withholdsKeys: Bool = false, _ open: @escaping @Sendable () throws(KeychainError) -> KeychainSession
    ) {
        self.withholdsKeys = withholdsKeys
        self.open = { () throws(KeychainError) in try open().ofFiles() }
    }

    public func newKey(
        _ protection: FileProtectionClass, group: String?
    ) throws(FileProtectionError) -> ProvidedFileKey {
        try withErrors(as: FileProtectionError.key) { () throws(KeychainError) in
            let session = try open()
            let keys = OpenFileKeys.of(session.service)
            let made = try session.createFileKey(protection, group: group, withholdsKey: withholdsKeys)
            guard !withholdsKeys else {
                return ProvidedFileKey(made.record, ServiceFileCipher(made.record, keys, open: open))
            }
            guard let secret = made.key else { throw .unexpectedResponse }
            let held = HeldFileKey(made.record, secret, keys, open: open)
            return ProvidedFileKey(made.record, FileKeyCipher(held))
        }
    }

    public func cipher(for record: FileKeyRecord) throws(FileProtectionError) -> any ContainerCipher {
        let session = try withErrors(as: FileProtectionError.key, open)
        let keys = OpenFileKeys.of(session.service)
        guard !withholdsKeys else {
            let cipher = ServiceFileCipher(record, keys, open: open)
            try cipher.requireOpen()
            return cipher
        }
        do throws(KeychainError) {
            return FileKeyCipher(HeldFileKey(record, try session.openFileKey(record), keys, open: open))
        } catch {
            throw error.status == .decode ? .wrongKey : .key(error)
        }
    }

    public func rewrap(
        _ record: FileKeyRecord, for protection: FileProtectionClass?, group: String?
    ) throws(FileProtectionError) -> FileKeyRecord {
        do throws(KeychainError) {
            return try open().rewrapFileKey(record, for: protection, group: group)
        } catch {
            throw error.status == .decode ? .wrongKey : .key(error)
        }
    }

    public func isOpen(_ protection: FileProtectionClass) throws(FileProtectionError) -> Bool {
        try withErrors(as: FileProtectionError.key) { () throws(KeychainError) in
            try open().settledLockStatus().open.contains(protection.itemProtection)
        }
    }

    /// Calls `body` with the present lock state of the keychain, and with every new one; with ``LockState/beforeFirstUnlock`` when the
    /// process that holds it has ended.
    ///
    /// - Returns: the observation; its release ends the calls.
    public func observeLock(
        _ body: @escaping @Sendable (LockState) -> Void
    ) throws(KeychainError) -> LockObservation {
        LockObservation(try open().service, body)
    }
}

extension KeychainSession {
    fileprivate func ofFiles() throws(KeychainError) -> KeychainSession { replacing(try service.fileKeychain) }
}

/// Calls an observer of the lock until it is released.
public final class LockObservation: Sendable {
    private let service: any KeychainService
    private let number: Int

    init(_ service: any KeychainService, _ body: @escaping @Sendable (LockState) -> Void) {
        self.service = service
        number = service.addLockObserver(reportsPresent: true) { body($0 ?? .beforeFirstUnlock) }
    }

    deinit { service.removeLockObserver(number) }
}
