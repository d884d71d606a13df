// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import SecretMemory

/// The operations on a keychain that cannot be opened.
public protocol KeychainRescue: Sendable {
    /// Opens the keychain with its recovery key, and sets a new passcode.
    ///
    /// - Parameter newPasscode: nil only counts the items that would be lost.
    /// - Returns: the number of items that are lost, because their keys could not leave the device.
    func recover(with key: SharedSecret, newPasscode: SharedSecret?) throws(KeychainError) -> Int

    /// Seals the device key to the present values of the PCRs.
    ///
    /// - Parameter code: the code of its move to the TPM.
    func resealRoot(with code: SharedSecret) throws(KeychainError)

    /// Reports why the keychain cannot be opened, and the steps that lead back to its items.
    ///
    /// - Parameter problem: the error of the attempt to open it.
    /// - Throws: `problem`, if there is nothing to examine.
    func diagnose(_ problem: KeychainError) throws(KeychainError) -> [KeychainFinding]
}
