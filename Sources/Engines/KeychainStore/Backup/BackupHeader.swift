// SPDX-License-Identifier: Apache-2.0

internal import Keybag
internal import KeychainModel
internal import LinuxSystem

/// The plaintext header of a backup: 75 bytes. Every key of the backup depends on it
/// (Documentation/Formats/backup.md).
struct BackupHeader: Equatable {
    /// 1 to ``version``. This code writes the last one; its items may have lookup attributes. Files are in backups
    /// since version 2.
    var version: UInt16
    var salt: [UInt8]
    var cost: PasscodeCost
    /// The UUID of the keychain that was backed up.
    var keychain: [UInt8]
    /// Seconds since 2001-01-01 00:00:00 UTC.
    var created: Double

    static let length = 8 + 2 + 32 + 1 + 4 + 4 + 16 + 8
    static let firstVersion: UInt16 = 1
    static let version: UInt16 = 3

    var encoded: [UInt8] {
        var bytes = Self.magic
        bytes.append(bigEndian: version)
        bytes += salt
        bytes.append(cost.exponent)
        bytes.append(bigEndian: cost.blockSize)
        bytes.append(bigEndian: cost.parallelism)
        bytes += keychain
        bytes.append(bigEndian: created.bitPattern)
        return bytes
    }

    init(version: UInt16 = BackupHeader.version, salt: [UInt8], cost: PasscodeCost, keychain: [UInt8], created: Double)
    {
        self.version = version
        self.salt = salt
        self.cost = cost
        self.keychain = keychain
        self.created = created
    }

    /// - Throws: ``StoreError/notABackup(_:)``, ``StoreError/newerBackup(found:known:)``.
    init(decoding bytes: [UInt8]) throws(StoreError) {
        guard bytes.count == Self.length, bytes.starts(with: Self.magic) else {
            throw .notABackup("the header is missing")
        }
        var fields = FieldReader(bytes.dropFirst(Self.magic.count))
        guard let version: UInt16 = fields.number() else { throw .notABackup("the header is missing") }
        guard version <= Self.version else { throw .newerBackup(found: version, known: Self.version) }
        guard version >= Self.firstVersion else { throw .notABackup("unknown version \(version)") }
        guard let salt = fields.array(32), let exponent: UInt8 = fields.number(),
            let blockSize: UInt32 = fields.number(), let parallelism: UInt32 = fields.number(),
            let keychain = fields.array(16), let created: UInt64 = fields.number()
        else { throw .notABackup("the header is missing") }
        cost = PasscodeCost(exponent: exponent, blockSize: blockSize, parallelism: parallelism)
        (self.version, self.salt, self.keychain) = (version, salt, keychain)
        self.created = Double(bitPattern: created)
    }

    private static let magic = Array("LKBACKUP".utf8)
}
