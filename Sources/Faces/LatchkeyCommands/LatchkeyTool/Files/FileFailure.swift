// SPDX-License-Identifier: Apache-2.0

internal import FileProtection
internal import KeychainModel
internal import LatchkeyService
internal import LinuxSystem

/// Errors of files as those of a command.
enum FileFailure {
    static func mapErrors<Value>(
        _ path: FilePath, _ body: () throws(FileProtectionError) -> Value
    ) throws(CommandFailure) -> Value {
        try withErrors(as: { CommandFailure.status(KeychainError($0, path: path.description)) }, body)
    }
}
