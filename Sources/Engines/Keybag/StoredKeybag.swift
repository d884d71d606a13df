// SPDX-License-Identifier: Apache-2.0

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
