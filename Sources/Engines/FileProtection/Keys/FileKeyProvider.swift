// SPDX-License-Identifier: Apache-2.0

public import KeychainModel

/// Creates and opens the keys of protected files, for one program. Safe to use from several threads.
public protocol FileKeyProvider: Sendable {
    /// Creates the key of a new file.
    ///
    /// - Parameter group: the access group of the file; nil for the first one of the program.
    /// - Throws: errSecInteractionNotAllowed while the class is closed, errSecMissingEntitlement.
    func newKey(
        _ protection: FileProtectionClass, group: String?
    ) throws(FileProtectionError) -> ProvidedFileKey

    /// Returns the cipher of an existing file. A handle of class B may use it after the lock; every
    /// other cipher checks for itself whether its class is open.
    ///
    /// - Throws: errSecInteractionNotAllowed while the class is closed, errSecMissingEntitlement;
    ///   ``FileProtectionError/wrongKey`` for a record that the keychain has not made.
    func cipher(for record: FileKeyRecord) throws(FileProtectionError) -> any ContainerCipher

    /// Wraps the key of a file for another class or access group, with the newest class key.
    ///
    /// - Parameters:
    ///   - protection: nil for the present one.
    ///   - group: nil for the present one.
    func rewrap(
        _ record: FileKeyRecord, for protection: FileProtectionClass?, group: String?
    ) throws(FileProtectionError) -> FileKeyRecord

    /// Whether files of the class can be opened now.
    func isOpen(_ protection: FileProtectionClass) throws(FileProtectionError) -> Bool
}

/// The key of a new file: the record for its header, and the cipher for its content.
public struct ProvidedFileKey: Sendable {
    public let record: FileKeyRecord
    public let cipher: any ContainerCipher

    public init(_ record: FileKeyRecord, _ cipher: any ContainerCipher) {
        (self.record, self.cipher) = (record, cipher)
    }
}
