// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import SecretMemory

/// The keys of protected files. A file belongs to one access group; class keys never leave the
/// service.
public protocol KeychainFiles: Sendable {
    /// Creates the key of a new file.
    ///
    /// - Parameters:
    ///   - group: the access group of the file; nil for the first one of the program.
    ///   - withholdsKey: whether the key stays in the service, which then encrypts and decrypts.
    /// - Throws: errSecInteractionNotAllowed while the class is closed; errSecMissingEntitlement.
    func createFileKey(
        _ protection: FileProtectionClass, group: String?, withholdsKey: Bool, from caller: CallerIdentity
    ) throws(KeychainError) -> FileKey

    /// Returns the key of an existing file.
    ///
    /// - Throws: errSecInteractionNotAllowed while the class is closed; errSecMissingEntitlement if
    ///   the program does not have the access group of the file; errSecItemNotFound if the keychain
    ///   does not have the class key; errSecDecode if the record was changed.
    func openFileKey(_ record: FileKeyRecord, from caller: CallerIdentity) throws(KeychainError) -> SharedSecret

    /// Wraps the key of a file again, with the newest class key.
    ///
    /// - Parameters:
    ///   - protection: the new class; nil for the present one.
    ///   - group: the new access group; nil for the present one.
    func rewrapFileKey(
        _ record: FileKeyRecord, for protection: FileProtectionClass?, group: String?, from caller: CallerIdentity
    ) throws(KeychainError) -> FileKeyRecord

    /// Encrypts or decrypts with the key of a file.
    ///
    /// - Throws: errSecDecode if a ciphertext is not what was encrypted; errSecParam for an input
    ///   that is too long.
    func useFileKey(_ request: FilePartRequest, from caller: CallerIdentity) throws(KeychainError) -> FilePart
}
