// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import KeychainSessions
internal import LatchkeyClient
internal import LatchkeyService

/// The keychains that one call works on, and that the keys it returns belong to.
struct ChosenKeychains: Sendable {
    /// nil for those of the search list.
    private let names: [KeychainName]?

    init(_ names: [KeychainName]?) { self.names = names }

    /// The keychains of a function's parameter: one, an array of them, or nil for the search list.
    ///
    /// - Throws: errSecParam for other objects.
    init(parameter: Any?) throws(KeychainError) {
        self.init(
            try parameter.map { (keychains) throws(KeychainError) in try KeychainName.searched(keychains) })
    }

    /// The keychains of the search list.
    static let searchList = ChosenKeychains(nil)

    /// Runs `body` with these keychains as the keychain of this process.
    ///
    /// - Throws: errSecItemNotFound if there is no keychain in the list.
    func perform<Result>(_ body: () throws(KeychainError) -> Result) throws(KeychainError) -> Result {
        guard let names else { return try body() }
        guard !names.isEmpty else { throw .itemNotFound }
        return try KeychainClient.searching(names, body)
    }

    /// Returns these keychains as one.
    func session() throws(KeychainError) -> KeychainSession {
        try perform { () throws(KeychainError) in try KeychainClient.session() }
    }
}
