// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import LinuxSystem
internal import SecretMemory

/// The device key D: 32 random bytes, the root of every other key of a keychain, which never leave this device.
public final class DeviceKey: Sendable {
    /// What keeps the key between two runs. The raw value is stored in the keybag, and never silently becomes a weaker one.
    public enum Root: UInt8, Sendable {
        case file = 1
        case memory = 2
    }

    public let root: Root
    let secret: SecretBytes

    private init(root: Root, secret: consuming SecretBytes) {
        self.root = root
        self.secret = secret
    }

    /// A key that lives as long as the process.
    public static func ephemeral() -> DeviceKey {
        DeviceKey(root: .memory, secret: .random(count: length))
    }

    /// The key in `directory`, or nil where there is none.
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

    /// The key in `directory`, made on first use. Of two first processes the loser reads the winner's.
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

    /// Its length in bytes.
    public static let length = 32
    public static let fileName = "device.key"
}
