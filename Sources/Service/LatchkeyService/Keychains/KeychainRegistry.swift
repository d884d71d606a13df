// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import SecretMemory

/// The keychains of one user: their list, their search list, their creation and deletion.
public protocol KeychainRegistry: Sendable {
    /// Returns every keychain with its place, and the search list.
    func keychains() throws(KeychainError) -> KeychainOverview

    /// Creates a keychain and appends it to the search list. It is unlocked then, where the process
    /// that holds it outlives the call.
    ///
    /// - Parameter passcode: nil for a keychain that is always unlocked.
    /// - Throws: errSecDuplicateKeychain; errSecParam for more than ``KeychainList/maxCount``.
    func createKeychain(_ name: KeychainName, passcode: SharedSecret?) throws(KeychainError)

    /// Deletes a keychain with everything in it, and removes it from the search list.
    ///
    /// - Throws: errSecNoSuchKeychain; errSecParam for the one that every user has.
    func deleteKeychain(_ name: KeychainName) throws(KeychainError)

    /// Changes the search list or the default keychain. The list may name keychains that do not exist.
    ///
    /// - Throws: errSecNoSuchKeychain for a default keychain that does not exist.
    func changeKeychainList(_ change: KeychainListChange) throws(KeychainError)
}

/// A user's keychains.
public struct KeychainOverview: Hashable, Sendable {
    /// The keychain that every user has is first.
    public let places: [KeychainPlace]
    public let list: KeychainList

    public init(places: [KeychainPlace], list: KeychainList) { (self.places, self.list) = (places, list) }

    /// The keychains that are searched and exist, in the order of the search list.
    public var searched: [KeychainPlace] { list.search.compactMap(place) }

    public func place(_ name: KeychainName) -> KeychainPlace? { places.first { $0.name == name } }
}

/// Where a keychain is.
public struct KeychainPlace: Hashable, Sendable {
    public let name: KeychainName
    /// The text that stands for the keychain in output: the path of its file, of the database or of the data directory;
    /// or `ephemeral`.
    public let path: String

    public static let ephemeralPath = "ephemeral"

    public init(_ name: KeychainName, path: String) { (self.name, self.path) = (name, path) }
}

/// A change of a user's search list.
public enum KeychainListChange: Hashable, Sendable {
    /// The keychains to search, in this order.
    case search([KeychainName])
    /// The keychain that gets new items.
    case defaultKeychain(KeychainName)

    func apply(to list: inout KeychainList) throws(KeychainError) {
        switch self {
        case .search(let names): try list.setSearch(names)
        case .defaultKeychain(let name): list.defaultKeychain = name
        }
    }
}
