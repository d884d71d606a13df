// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import KeychainModel
public import LinuxSystem
internal import SecretMemory

/// The device key of a keychain in its directory: in a file, or in a file that the TPM or systemd has sealed. The
/// keybag names the valid one; another one is never used in its place.
public struct DeviceKeyStorage: Sendable {
    private let directory: PrivateDirectory
    private let hardware: (any HardwareRoot)?
    private let credentials: (any DeviceKeySealer)?

    /// The names of the files by their roots.
    public static func fileName(_ root: DeviceKey.Root) -> String {
        switch root {
        case .tpm: "device.tpm"
        case .credential: "device.credential"
        case .file, .memory: DeviceKey.fileName
        }
    }

    private static let sealedRoots: [DeviceKey.Root] = [.tpm, .credential]
    /// Where a key can be.
    package static let roots: [DeviceKey.Root] = [.file] + sealedRoots
    /// No sealed key is longer.
    static let maxSealedLength = 4096

    /// - Parameters:
    ///   - hardware: nil if this process cannot use a TPM.
    ///   - credentials: encrypts credentials of systemd; nil if this process cannot open them.
    public init(
        _ directory: PrivateDirectory, hardware: (any HardwareRoot)?, credentials: (any DeviceKeySealer)? = nil
    ) {
        (self.directory, self.hardware, self.credentials) = (directory, hardware, credentials)
    }

    /// Loads the key of an existing keychain.
    ///
    /// - Parameter root: where the keybag says that it is; nil if the keybag cannot be read.
    /// - Throws: ``KeybagError/deviceKeyMissing(path:)``; ``KeybagError/hardware(_:)`` if the TPM
    ///   does not open it, or this process cannot use one.
    public func load(_ root: DeviceKey.Root?) throws(KeybagError) -> DeviceKey {
        var place = root
        if place == nil {
            for root in Self.sealedRoots where try has(root) { place = root }
        }
        switch place {
        case .tpm, .credential: return try unsealed(place ?? .tpm)
        case .file, .memory, nil:
            guard let key = try DeviceKey.load(from: directory) else {
                throw .deviceKeyMissing(path: directory.appending(DeviceKey.fileName))
            }
            return key.using(hardware)
        }
    }

    /// Creates the key of a new keychain, in a file.
    public func create() throws(KeybagError) -> DeviceKey { try DeviceKey.loadOrCreate(in: directory).using(hardware) }

    /// Opens a stored keybag with the key that its root holds now, and compares its counter with the
    /// hardware's.
    package func check(_ stored: StoredKeybag) throws(KeybagError) {
        _ = try DeviceKeybag(opening: stored, deviceKey: try load(stored.root)).isAheadOfCounter()
    }

    // MARK: Moving

    /// Writes the key to another root durably, and reads it back. The present one stays.
    ///
    /// - Parameter registers: for ``DeviceKey/Root/tpm`` only; nil for none.
    package func write(
        _ key: DeviceKey, to root: DeviceKey.Root, registers: RegisterBinding? = nil
    ) throws(KeybagError) -> DeviceKey {
        let secret = SharedSecret(key.secret.copy())
        switch root {
        case .tpm, .credential:
            let sealed = try seal(secret, for: root, registers)
            try withErrors(as: KeybagError.system) { () throws(SystemError) in
                try PrivateFile.replace(Self.fileName(root), in: directory, content: sealed)
            }
        case .file, .memory:
            let isCreated = try withErrors(as: KeybagError.system) { () throws(SystemError) in
                try secret.withUnsafeBytes { (bytes) throws(SystemError) in
                    try PrivateFile.create(DeviceKey.fileName, in: directory, content: bytes)
                }
            }
            // A file of an interrupted move has the same key, or is of no use.
            if !isCreated, try DeviceKey.load(from: directory)?.isEqual(to: key) != true {
                try remove(.file)
                return try write(key, to: root)
            }
        }
        let written = try load(root)
        guard written.isEqual(to: key) else { throw .damaged("the device key was not written as it is") }
        return written
    }

    /// Whether a root has a key.
    package func has(_ root: DeviceKey.Root) throws(KeybagError) -> Bool {
        guard root != .memory else { return false }
        return try withErrors(as: KeybagError.system) { () throws(SystemError) in
            try FileStatus.ofLink(directory.appending(Self.fileName(root))) != nil
        }
    }

    /// Overwrites and removes the key of a root. Disks can keep overwritten data.
    package func remove(_ root: DeviceKey.Root) throws(KeybagError) {
        guard try has(root) else { return }
        let name = Self.fileName(root)
        try withErrors(as: KeybagError.system) { () throws(SystemError) in
            let path = directory.appending(name)
            let descriptor = try OwnedDescriptor(opening: path, flags: O_WRONLY | O_NOFOLLOW | O_NONBLOCK)
            let zeros = [UInt8](repeating: 0, count: root == .file ? DeviceKey.length : Self.maxSealedLength)
            try zeros.withUnsafeBufferPointer { (bytes) throws(SystemError) in
                try descriptor.write(UnsafeRawBufferPointer(bytes), path: path)
            }
            try descriptor.synchronize(path: path)
            try PrivateFile.remove(name, in: directory)
        }
    }

    // MARK: The sealed file

    private func unsealed(_ root: DeviceKey.Root) throws(KeybagError) -> DeviceKey {
        let sealed = try sealedBytes(root)
        let secret = try using(try sealer(root)) { (sealer) throws(KeychainError) in try sealer.unseal(sealed) }
        guard secret.count == DeviceKey.length else {
            throw .damaged("the sealed device key has \(secret.count) bytes, expected \(DeviceKey.length)")
        }
        return DeviceKey(root: root, secret: secret.copy(), hardware: hardware)
    }

    private func seal(
        _ secret: SharedSecret, for root: DeviceKey.Root, _ registers: RegisterBinding?
    ) throws(KeybagError) -> [UInt8] {
        guard let registers, root == .tpm else {
            return try using(try sealer(root)) { (sealer) throws(KeychainError) in try sealer.seal(secret) }
        }
        guard let hardware else { throw .noHardware }
        return try using(hardware) { (_) throws(KeychainError) in try hardware.seal(secret, to: registers) }
    }

    // MARK: Registers

    /// Returns the registers that the key in the TPM is sealed to; empty for none.
    package func registers() throws(KeybagError) -> Set<UInt8> {
        guard let hardware else { throw .noHardware }
        let sealed = try sealedBytes(.tpm)
        return try using(hardware) { (_) throws(KeychainError) in try hardware.registers(of: sealed) }
    }

    /// Seals the key in the TPM to the present values of the registers, after they have changed.
    ///
    /// - Throws: ``KeybagError/hardware(_:)`` for a wrong code, and if the key is not sealed to any.
    package func reseal(with code: RecoveryKey) throws(KeybagError) {
        guard let hardware else { throw .noHardware }
        let sealed = try sealedBytes(.tpm)
        let numbers = try registers()
        let binding = RegisterBinding(numbers, code: code)
        let fresh = try using(hardware) { (_) throws(KeychainError) in
            let key = try hardware.unseal(sealed, authorization: binding.authorization)
            let fresh = try hardware.seal(key, to: binding)
            guard try hardware.unseal(fresh) == key else {
                throw KeychainError(.internalFailure, "the TPM does not return the key that it has sealed")
            }
            return fresh
        }
        try withErrors(as: KeybagError.system) { () throws(SystemError) in
            try PrivateFile.replace(Self.fileName(.tpm), in: directory, content: fresh)
        }
    }

    private func sealedBytes(_ root: DeviceKey.Root) throws(KeybagError) -> [UInt8] {
        let path = directory.appending(Self.fileName(root))
        let sealed = try withErrors(as: KeybagError.system) { () throws(SystemError) in
            try PrivateFile.read(path, atMost: Self.maxSealedLength)
        }
        guard let sealed else { throw .deviceKeyMissing(path: path) }
        return sealed
    }

    private func sealer(_ root: DeviceKey.Root) throws(KeybagError) -> any DeviceKeySealer {
        if root == .tpm {
            guard let hardware else { throw .noHardware }
            return hardware
        }
        guard let credentials else { throw .noCredential(path: directory.appending(Self.fileName(root))) }
        return credentials
    }

    // MARK: Errors

    private func using<Result>(
        _ sealer: any DeviceKeySealer, _ body: (any DeviceKeySealer) throws(KeychainError) -> Result
    ) throws(KeybagError) -> Result {
        do throws(KeychainError) {
            return try body(sealer)
        } catch {
            throw .hardware(error)
        }
    }
}
