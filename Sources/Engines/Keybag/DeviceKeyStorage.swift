// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import KeychainModel
public import LinuxSystem
internal import SecretMemory

/// The device key of a keychain in its directory: in a file, or in a file that the TPM has sealed.
/// The keybag says which of them counts; the other one is never used in its place.
public struct DeviceKeyStorage: Sendable {
    private let directory: PrivateDirectory
    private let sealer: (any DeviceKeySealer)?

    public static let sealedFileName = "device.tpm"
    /// No sealed key is longer.
    static let maxSealedLength = 4096

    /// - Parameter sealer: nil if this process cannot use a TPM.
    public init(_ directory: PrivateDirectory, sealer: (any DeviceKeySealer)?) {
        (self.directory, self.sealer) = (directory, sealer)
    }

    /// Loads the key of an existing keychain.
    ///
    /// - Parameter root: where the keybag says that it is; nil if the keybag cannot be read.
    /// - Throws: ``KeybagError/deviceKeyMissing(path:)``; ``KeybagError/hardware(_:)`` if the TPM
    ///   does not open it, or this process cannot use one.
    public func load(_ root: DeviceKey.Root?) throws(KeybagError) -> DeviceKey {
        let place: DeviceKey.Root = if let root { root } else { try isSealed() ? .tpm : .file }
        switch place {
        case .tpm: return try unsealed()
        case .file, .memory:
            guard let key = try DeviceKey.load(from: directory) else {
                throw .deviceKeyMissing(path: directory.appending(DeviceKey.fileName))
            }
            return key
        }
    }

    /// Creates the key of a new keychain, in a file.
    public func create() throws(KeybagError) -> DeviceKey { try .loadOrCreate(in: directory) }

    // MARK: Moving

    /// Writes the key to another root durably, and reads it back. The present one stays.
    package func write(_ key: DeviceKey, to root: DeviceKey.Root) throws(KeybagError) -> DeviceKey {
        let secret = SharedSecret(key.secret.copy())
        switch root {
        case .tpm:
            let sealed = try hardware { (sealer) throws(KeychainError) in try sealer.seal(secret) }
            try system { () throws(SystemError) in
                try PrivateFile.replace(Self.sealedFileName, in: directory, content: sealed)
            }
        case .file, .memory:
            let isCreated = try system { () throws(SystemError) in
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
        switch root {
        case .tpm: try isSealed()
        case .file:
            try system { () throws(SystemError) in
                try FileStatus.ofLink(directory.appending(DeviceKey.fileName)) != nil
            }
        case .memory: false
        }
    }

    /// Overwrites and removes the key of a root. Disks can keep what was overwritten.
    package func remove(_ root: DeviceKey.Root) throws(KeybagError) {
        guard try has(root) else { return }
        let name = root == .tpm ? Self.sealedFileName : DeviceKey.fileName
        try system { () throws(SystemError) in
            let path = directory.appending(name)
            let descriptor = try OwnedDescriptor(opening: path, flags: O_WRONLY | O_NOFOLLOW | O_NONBLOCK)
            let zeros = [UInt8](repeating: 0, count: root == .tpm ? Self.maxSealedLength : DeviceKey.length)
            try zeros.withUnsafeBufferPointer { (bytes) throws(SystemError) in
                try descriptor.write(UnsafeRawBufferPointer(bytes), path: path)
            }
            try descriptor.synchronize(path: path)
            try PrivateFile.remove(name, in: directory)
        }
    }

    // MARK: The sealed file

    private func isSealed() throws(KeybagError) -> Bool {
        try system { () throws(SystemError) in
            try FileStatus.ofLink(directory.appending(Self.sealedFileName)) != nil
        }
    }

    private func unsealed() throws(KeybagError) -> DeviceKey {
        let path = directory.appending(Self.sealedFileName)
        let sealed = try system { () throws(SystemError) in
            try PrivateFile.read(path, atMost: Self.maxSealedLength)
        }
        guard let sealed else { throw .deviceKeyMissing(path: path) }
        let secret = try hardware { (sealer) throws(KeychainError) in try sealer.unseal(sealed) }
        guard secret.count == DeviceKey.length else {
            throw .damaged("the sealed device key has \(secret.count) bytes, expected \(DeviceKey.length)")
        }
        return DeviceKey(root: .tpm, secret: secret.copy())
    }

    // MARK: Errors

    private func hardware<Result>(
        _ body: (any DeviceKeySealer) throws(KeychainError) -> Result
    ) throws(KeybagError) -> Result {
        guard let sealer else {
            throw .hardware(
                KeychainError(
                    .notAvailable, "the device key is in a TPM, which this program cannot use",
                    hint: "latchkeyd opens it: systemctl --user enable --now latchkeyd.socket"))
        }
        do throws(KeychainError) {
            return try body(sealer)
        } catch {
            throw .hardware(error)
        }
    }

    private func system<Result>(_ body: () throws(SystemError) -> Result) throws(KeybagError) -> Result {
        do throws(SystemError) {
            return try body()
        } catch {
            throw .system(error)
        }
    }
}
