// SPDX-License-Identifier: Apache-2.0

internal import Keybag
internal import KeychainModel

/// The plaintext header of a backup: 75 bytes. Every key of the backup depends on it
/// (Documentation/Formats/backup.md).
struct BackupHeader: Equatable {
    /// 1 to ``version``. This code writes the last one, whose items may have lookup attributes; files are
    /// in backups since version 2.
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
        func number(_ range: Range<Int>) -> UInt64 { bytes[range].reduce(0) { $0 << 8 | UInt64($1) } }
        version = UInt16(number(8..<10))
        guard version <= Self.version else { throw .newerBackup(found: version, known: Self.version) }
        guard version >= Self.firstVersion else { throw .notABackup("unknown version \(version)") }
        salt = Array(bytes[10..<42])
        cost = PasscodeCost(
            exponent: bytes[42], blockSize: UInt32(number(43..<47)), parallelism: UInt32(number(47..<51)))
        keychain = Array(bytes[51..<67])
        created = Double(bitPattern: number(67..<75))
    }

    private static let magic = Array("LKBACKUP".utf8)
}
