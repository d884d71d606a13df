// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import SecretMemory

/// Returns the next bytes of a file, at most ``StoredFilePart/maxLength``; nil at its end.
public typealias StoredFileSource = () throws(KeychainError) -> SharedSecret?

/// Files in the keychain's own directory. An item stands for each: it holds the key of the file, and
/// the file is deleted with it.
public protocol KeychainStoredFiles: Sendable {
    /// Stores a file. It is durable when this returns.
    ///
    /// - Parameters:
    ///   - item: a generic password without data, which is not synchronized and has no access control.
    ///   - replaces: whether a file of the same name is replaced.
    ///   - source: called until it returns nil.
    /// - Throws: errSecDuplicateItem if an item of this name exists, and is not a file that is to be
    ///   replaced; errSecInteractionNotAllowed while the class is closed; errSecDiskFull beyond the
    ///   quota of the user; errSecNotAvailable for a keychain in memory.
    func storeFile(
        _ item: ItemAddition, replaces: Bool, from source: @escaping StoredFileSource, caller: CallerIdentity
    ) throws(KeychainError)

    /// Returns a part of a stored file.
    ///
    /// - Parameters:
    ///   - query: selects the item.
    ///   - offset: in the content, in bytes.
    ///   - count: at most ``StoredFilePart/maxLength``.
    ///   - version: that of an earlier part; nil for the present one.
    /// - Throws: errSecItemNotFound; errSecInteractionNotAllowed while the class is closed; errSecParam
    ///   for an item that is not a file; errSecNotAvailable if the content is not that of `version`
    ///   any more; errSecDecode if the file is missing or was changed.
    func readStoredFile(
        _ query: ItemQuery, at offset: UInt64, count: Int, version: [UInt8]?, from caller: CallerIdentity
    ) throws(KeychainError) -> StoredFilePart
}
