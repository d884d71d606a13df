// SPDX-License-Identifier: Apache-2.0

internal import FileProtection
internal import KeychainModel
internal import LatchkeyService

/// Errors of files as those of a command.
enum FileFailure {
    static func mapErrors<Value>(
        _ path: String, _ body: () throws(FileProtectionError) -> Value
    ) throws(CommandFailure) -> Value {
        do throws(FileProtectionError) { return try body() } catch { throw .status(KeychainError(error, path: path)) }
    }
}
