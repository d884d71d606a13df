// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// The keybag as it is stored in the database.
public struct StoredKeybag: Sendable, Equatable {
    /// The encoded record.
    public var record: [UInt8]
    /// HMAC-SHA256 of the record under a key derived from the device key.
    public var deviceTag: [UInt8]
    /// HMAC-SHA256 of the record under a key derived from the device key and the passcode; empty
    /// without a passcode.
    public var userTag: [UInt8]

    public init(record: [UInt8], deviceTag: [UInt8], userTag: [UInt8]) {
        self.record = record
        self.deviceTag = deviceTag
        self.userTag = userTag
    }
}

extension StoredKeybag {
    /// Where the record says that the device key is; nil if it cannot be read. It is not
    /// authenticated: only the key itself can do that.
    package var root: DeviceKey.Root? {
        (try? KeybagRecord(decoding: record)).flatMap { DeviceKey.Root(rawValue: $0.root) }
    }

    /// Whether the record says that there is a recovery key; as ``root``, not authenticated.
    package var hasRecoveryKey: Bool {
        (try? KeybagRecord(decoding: record))?.keys.contains { $0.wrapping == .recovery } ?? false
    }
}

// MARK: - Versions

extension StoredKeybag {
    /// The version of the record; nil if it is shorter than a version.
    package var version: Int? {
        var fields = FieldReader(record)
        return fields.number(UInt16.self).map { Int($0) }
    }

    /// The newest version that this program reads.
    package static var newestVersion: Int { Int(KeybagRecord.version) }
    /// Older records get this version, when the keychain is opened or unlocked.
    package static var raisedVersion: Int { Int(KeybagRecord.commonVersion) }
}
