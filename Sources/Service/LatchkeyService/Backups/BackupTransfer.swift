// SPDX-License-Identifier: Apache-2.0

public import KeychainModel

/// Takes the next bytes of a backup. An error that it throws ends the backup.
public typealias BackupSink = (UnsafeRawBufferPointer) throws(KeychainError) -> Void

/// Fills the buffer with the next bytes of a backup, and returns their count; 0 at the end.
public typealias BackupSource = (UnsafeMutableRawBufferPointer) throws(KeychainError) -> Int
