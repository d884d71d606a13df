// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem

/// The chunks of a backup's body.
enum BackupChunk {
    /// The length of the plaintext of every chunk except the last, in bytes.
    static let length = 65536
    /// The length of the authentication tag, in bytes.
    static let overhead = 16

    /// Returns the nonce `be64 counter ‖ 0 0 0 ‖ last`. Every backup has its own key, so no nonce
    /// is used twice with one key.
    static func nonce(_ counter: UInt64, isLast: Bool) -> [UInt8] {
        counter.bigEndianBytes + [0, 0, 0, isLast ? 1 : 0]
    }
}
