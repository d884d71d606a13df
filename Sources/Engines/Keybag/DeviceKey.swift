// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import LinuxSystem
internal import SecretMemory

/// The device key D: 32 random bytes that never leave this device. Every other key of a keychain
/// depends on it.
public final class DeviceKey: Sendable {
    /// Where the key is kept between two runs. The raw value is stored in the keybag, so that a key
    /// is never silently replaced by one from a weaker root.
    public enum Root: UInt8, Sendable {
        case file = 1
        case memory = 2
        /// A file that only the TPM of this machine opens.
        case tpm = 3
        /// A credential of systemd, encrypted for this machine.
        case credential = 4
    }

    public let root: Root
    let secret: SecretBytes
    /// The hardware that this process can use, wherever the key is; nil for none.
    let hardware: (any HardwareRoot)?

    init(root: Root, secret: consuming SecretBytes, hardware: (any HardwareRoot)? = nil) {
        self.root = root
        self.secret = secret
        self.hardware = hardware
    }

    /// The same key from another root.
    func moved(to root: Root) -> DeviceKey { DeviceKey(root: root, secret: secret.copy(), hardware: hardware) }

    /// The same key, with the hardware that this process can use.
    func using(_ hardware: (any HardwareRoot)?) -> DeviceKey {
        DeviceKey(root: root, secret: secret.copy(), hardware: hardware)
    }

    /// - Throws: ``KeybagError/hardware(_:)`` if this process cannot use any.
    func requireHardware() throws(KeybagError) -> any HardwareRoot {
        guard let hardware else { throw .noHardware }
        return hardware
    }

    func isEqual(to other: DeviceKey) -> Bool { secret.isEqual(to: other.secret) }

    /// Generates a key that exists only in this process.
    public static func ephemeral() -> DeviceKey {
        DeviceKey(root: .memory, secret: .random(count: length))
    }

    /// Loads the key from `directory`; returns nil if there is none.
    public static func load(from directory: PrivateDirectory) throws(KeybagError) -> DeviceKey? {
        let path = directory.appending(fileName)
        var exists = false
        do {
            let secret = try SecretBytes(count: length) { (buffer) throws(SystemError) in
                exists = try PrivateFile.read(path, into: buffer)
            }
            return exists ? DeviceKey(root: .file, secret: secret) : nil
        } catch {
            throw .system(error)
        }
    }

    /// Loads the key from `directory`, or generates it on first use. If two processes create it at
    /// once, one of them wins and the other one reads the winner's key.
    public static func loadOrCreate(in directory: PrivateDirectory) throws(KeybagError) -> DeviceKey {
        if let key = try load(from: directory) { return key }
        let fresh = SecretBytes.random(count: length)
        do {
            let isCreated = try fresh.withUnsafeBytes { (bytes) throws(SystemError) in
                try PrivateFile.create(fileName, in: directory, content: bytes)
            }
            if isCreated { return DeviceKey(root: .file, secret: fresh) }
        } catch {
            throw .system(error)
        }
        guard let key = try load(from: directory) else { throw .deviceKeyMissing(path: directory.appending(fileName)) }
        return key
    }

    /// The length of the key in bytes.
    public static let length = 32
    public static let fileName = "device.key"
}
