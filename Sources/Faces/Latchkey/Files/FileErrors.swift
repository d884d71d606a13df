// SPDX-License-Identifier: Apache-2.0

internal import FileProtection
internal import KeychainModel
internal import LatchkeyService
internal import LinuxSystem

/// Runs `body` with errors of a file as those of the keychain.
func mapErrors<Value>(
    _ path: String, _ body: () throws(FileProtectionError) -> Value
) throws(KeychainError) -> Value {
    try withErrors(as: { KeychainError($0, path: path) }, body)
}
