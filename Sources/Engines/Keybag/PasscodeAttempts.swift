// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import KeychainModel
public import LinuxSystem
internal import SecretMemory

/// Counts wrong passcodes and enforces the delay before the next attempt.
///
/// An attempt is counted durably before it is verified, so that cutting the power does not give a
/// free attempt. The same wrong passcode entered twice is one attempt: 16 bits of a keyed hash
/// identify it. The count limits guesses through this program; an attacker who has the files and can
/// guess without it is limited only by hardware: ``HardwareRoot``.
public final class PasscodeAttempts: Sendable {
    private let storage: any AttemptStorage
    private let clock: BootClock

    /// Keeps the attempts in memory, for a keychain in memory.
    public convenience init(inMemory clock: BootClock) {
        self.init(InMemoryAttemptStorage(), clock: clock)
    }

    /// Keeps the attempts in `directory`, beside the device key.
    public convenience init(in directory: PrivateDirectory, clock: BootClock) {
        self.init(FileAttemptStorage(directory), clock: clock)
    }

    init(_ storage: any AttemptStorage, clock: BootClock) {
        self.storage = storage
        self.clock = clock
    }

    /// Runs `body` while no other thread and no other process verifies or changes a passcode.
    public func exclusively<Result, Failure: Error>(
        onSystemError: (KeybagError) -> Failure, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let lock: any AttemptLock
        do {
            lock = try storage.lock()
        } catch {
            throw onSystemError(error)
        }
        defer { lock.release() }
        return try body()
    }

    /// The result of verifying the right passcode.
    package struct PasscodeVerification {
        package let key: PasscodeKey
        package let unlocked: UnlockedKeybag
    }

    /// Verifies a passcode. Call it only within ``exclusively(onSystemError:_:)``.
    ///
    /// - Throws: ``KeybagError/wrongPasscode``, ``KeybagError/passcodeDelay(seconds:)``;
    ///   ``KeybagError/attemptsReadOnly(path:)`` before the passcode is verified, if the attempt could not be counted; ``KeybagError/wiped``
    ///   if this was the tenth wrong passcode and the settings require wiping: the caller must then destroy the data
    ///   that the passcode protected.
    ///
    /// Hardware that counts wrong passcodes counts repetitions, too: it cannot recognize them. So
    /// they are counted here as well, and a repetition that no person has typed is refused without
    /// asking the hardware.
    ///
    /// - Parameter isAutomatic: whether the passcode comes from a file or a credential.
    package func verify(
        _ passcode: Passcode, of keybag: DeviceKeybag, isAutomatic: Bool = false
    ) throws(KeybagError) -> PasscodeVerification {
        try storage.requireWritable()
        let before = try load(keybag.deviceKey)
        var record = before
        try restartDelay(&record, keybag.deviceKey)
        let delay = try delay(record)
        guard delay == 0 else { throw .passcodeDelay(seconds: delay) }
        let derived = try keybag.key(of: passcode)
        let tag = Self.tag(of: derived, keybag)
        let isRepetition = record.count > 0 && record.lastTag == tag
        if isRepetition, record.isKnownWrong, isAutomatic { throw .wrongPasscode }
        if !isRepetition || keybag.limitsPasscodes {
            record.count += 1
            record.lastTag = tag
            record.isKnownWrong = false
            record.bootIdentifier = Array(clock.identifier().utf8)
            record.time = try now()
            try save(record, keybag.deviceKey)
        }
        do {
            let key = try keybag.completing(derived)
            let unlocked = try keybag.unlock(with: key)
            try clear()
            return PasscodeVerification(key: key, unlocked: unlocked)
        } catch .wrongPasscode {
            if keybag.limitsPasscodes {
                record.isKnownWrong = true
                try save(record, keybag.deviceKey)
            }
            guard keybag.settings.wipesAfterTen, record.count >= AttemptRecord.wipeCount else { throw .wrongPasscode }
            throw .wiped
        } catch {
            // A damaged keybag, or hardware that does not answer, does not count as an attempt.
            try save(before, keybag.deviceKey)
            throw error
        }
    }

    /// Returns the seconds until the next passcode can be tried; 0 for immediately.
    package func delay(for keybag: DeviceKeybag) throws(KeybagError) -> Int {
        try delay(try load(keybag.deviceKey))
    }

    /// Returns the seconds since the last wrong passcode; nil if there is none, or if the machine
    /// was started since.
    package func elapsed(for keybag: DeviceKeybag) throws(KeybagError) -> Double? {
        let record = try load(keybag.deviceKey)
        guard record.count > 0, record.bootIdentifier == Array(clock.identifier().utf8) else { return nil }
        let now = try now()
        return now > record.time ? Double(now - record.time) / 1e9 : 0
    }

    /// Returns the number of wrong passcodes since the last right one.
    package func count(for keybag: DeviceKeybag) throws(KeybagError) -> Int {
        Int(try load(keybag.deviceKey).count)
    }

    /// Removes the record of attempts, because the passcode was right or was replaced.
    package func clear() throws(KeybagError) {
        try storage.save(nil)
    }

    // MARK: The record

    /// Restarts the delay after a boot, because the clock restarts as well.
    private func restartDelay(_ record: inout AttemptRecord, _ deviceKey: DeviceKey) throws(KeybagError) {
        let boot = Array(clock.identifier().utf8)
        guard record.delay > 0, record.bootIdentifier != boot else { return }
        record.bootIdentifier = boot
        record.time = try now()
        try save(record, deviceKey)
    }

    private func delay(_ record: AttemptRecord) throws(KeybagError) -> Int {
        guard record.bootIdentifier == Array(clock.identifier().utf8) else { return record.delay }
        let now = try now()
        // A time in the future counts as now. A clock that was set back causes it.
        let passed = now > record.time ? (now - record.time) / 1_000_000_000 : 0
        return max(0, record.delay - Int(clamping: passed))
    }

    /// - Throws: for a clock that cannot be read, so that no delay seems to have passed.
    private func now() throws(KeybagError) -> UInt64 {
        let now = clock.now()
        guard now < BootClock.unreadable else { throw .system(SystemError("read the time since boot", code: EIO)) }
        return now
    }

    private func load(_ deviceKey: DeviceKey) throws(KeybagError) -> AttemptRecord {
        guard let bytes = try storage.load() else { return AttemptRecord() }
        return try AttemptRecord(decoding: bytes, authenticatedBy: Self.key(deviceKey))
    }

    private func save(_ record: AttemptRecord, _ deviceKey: DeviceKey) throws(KeybagError) {
        try storage.save(record.encoded(authenticatedBy: Self.key(deviceKey)))
    }

    private static func key(_ deviceKey: DeviceKey) -> SecretBytes {
        KeybagCryptography.derive(from: deviceKey.secret, label: "latchkey v1 attempts")
    }

    /// Returns 16 bits: enough to recognize the same passcode, too few to reveal anything about it.
    private static func tag(of key: PasscodeKey, _ keybag: DeviceKeybag) -> UInt16 {
        KeybagCryptography.derive(from: key.secret, label: "latchkey v1 attempt", context: keybag.keychain)
            .withUnsafeBytes {
                UInt16($0[0]) << 8 | UInt16($0[1])
            }
    }
}
