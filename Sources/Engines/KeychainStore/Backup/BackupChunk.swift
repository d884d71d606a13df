// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// How a backup's body is cut.
enum BackupChunk {
    /// The plaintext of every chunk but the last.
    static let length = 65536
    /// The tag.
    static let overhead = 16

    /// `be64 counter ‖ 0 0 0 ‖ last`: no key serves two backups, so that no nonce comes twice under one key.
    static func nonce(_ counter: UInt64, isLast: Bool) -> [UInt8] {
        counter.bigEndianBytes + [0, 0, 0, isLast ? 1 : 0]
    }
}
