// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyOperations
internal import LatchkeyService

/// Stores a new item.
///
/// ```swift
/// let item: [String: Any] = [
///     kSecClass as String: kSecClassGenericPassword,
///     kSecAttrService as String: "example.com",
///     kSecAttrAccount as String: "alice",
///     kSecValueData as String: Data("s3cret".utf8),
/// ]
/// let status = SecItemAdd(item as CFDictionary, nil)
/// ```
///
/// - Parameters:
///   - attributes: the class, the item's attributes, its data, and the kinds of result
///     (`kSecReturn…`). With `kSecUseItemList`, an array of keys, of certificates or of identities,
///     either all of them are added or none, and the result is an array. With `kSecUseKeychain` the
///     item goes to that keychain.
///   - result: receives the requested result: Data, a `SecKey`, `SecCertificate` or `SecIdentity`,
///     a dictionary, or nothing.
/// - Returns: errSecSuccess; errSecDuplicateItem if an item with the same primary key exists;
///   errSecParam or errSecNoSuchAttr for an invalid dictionary; errSecMissingEntitlement for an
///   access group that is not one of the program's; errSecNotAvailable.
@discardableResult
public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    status {
        let request = try AddRequest(parsing: attributes)
        let authentication = try CallAuthentication(request.authentication)
        try request.keychain.perform { () throws(KeychainError) -> Void in
            var addition = ObjectAddition(authentication: try authentication.values())
            let items = try addition.addAll(of: request)
            guard let result, !request.returning.isEmpty, let first = items.first else { return }
            let results = ItemResults(
                returning: request.returning, authentication: authentication, keychains: request.keychain)
            result.pointee = request.isList ? try results.all(items) : try results.added(first)
        }
    }
}

/// Finds items.
///
/// - Parameters:
///   - query: the class or a persistent reference, the attributes to match, the keychains
///     (`kSecMatchSearchList`; by default the search list), the limit (one by default) and the kinds
///     of result.
///   - result: receives, with a limit of one, Data or a dictionary; with any other limit an array of them, in the order
///     of their addition; nothing if no result was requested.
/// - Returns: errSecSuccess; errSecItemNotFound; errSecInteractionNotAllowed if the protection
///   class of a matching item is locked; errSecParam, errSecNoSuchAttr, errSecNoSuchClass,
///   errSecUnimplemented, errSecMissingEntitlement, errSecNotAvailable.
@discardableResult
public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    status {
        let request = try CopyRequest(parsing: query)
        let authentication = try CallAuthentication(request.authentication)
        try request.keychains.perform { () throws(KeychainError) -> Void in
            let items = try ObjectSearch.items(for: request, try authentication.values())
            // Damaged rows are omitted. If nothing else matches, the result is "not found".
            guard let first = items.first else { throw .itemNotFound }
            guard let result else { return }
            let results = ItemResults(
                returning: request.returning, authentication: authentication, keychains: request.keychains)
            result.pointee = request.limitsToOne ? try results.one(first) : try results.all(items)
        }
    }
}

/// Updates every matching item, or none. Attributes that `attributesToUpdate` does not name keep
/// their values.
///
/// Match keys in `query` have no effect, including kSecMatchLimit; kSecMatchItemList and
/// kSecMatchSearchList are obeyed.
///
/// - Returns: errSecSuccess; errSecItemNotFound; errSecDuplicateItem if a changed primary key
///   equals that of another item; errSecParam for return keys in `query`; errSecNoSuchAttr for keys
///   other than attributes and data in `attributesToUpdate`.
@discardableResult
public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus {
    status {
        let query = try ChangeRequest(parsing: query, for: .update)
        let update = try UpdateRequest(parsing: attributesToUpdate, of: query.itemClass)
        let authentication = try CallAuthentication(query.authentication).values()
        try query.keychains.perform { () throws(KeychainError) -> Void in
            try query.lookup.perform(authentication) { (query) throws(KeychainError) in
                guard try KeychainClient.session().update(query, with: update.update) > 0 else { throw .itemNotFound }
            }
        }
    }
}

/// Deletes every matching item.
///
/// Match keys have no effect, including kSecMatchLimit; kSecMatchItemList and kSecMatchSearchList are
/// obeyed.
///
/// - Returns: errSecSuccess; errSecItemNotFound.
@discardableResult
public func SecItemDelete(_ query: CFDictionary) -> OSStatus {
    status {
        let query = try ChangeRequest(parsing: query, for: .delete)
        let authentication = try CallAuthentication(query.authentication).values()
        try query.keychains.perform { () throws(KeychainError) -> Void in
            try query.lookup.perform(authentication) { (query) throws(KeychainError) in
                guard try KeychainClient.session().delete(query) > 0 else { throw .itemNotFound }
            }
        }
    }
}

/// Deletes every item of every class in the named access groups, local and synchronized.
///
/// - Parameter accessGroups: strings. If `*` or a group that belongs to the system is among them,
///   the call is refused and nothing is deleted.
/// - Returns: whether the items were deleted; otherwise `error` receives an NSError in
///   NSOSStatusErrorDomain.
@discardableResult
public func SecItemDeleteAllWithAccessGroups(
    _ accessGroups: CFArray, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> Bool {
    let status = status {
        guard let groups = accessGroups as? [String],
            Set(groups).isDisjoint(with: [
                "*", "apple", "com.apple.security.sos", "com.apple.token", "lockdown-identities",
            ])
        else { throw KeychainError.parameter("expected the names of the program's own access groups") }
        // Every group is authorized before any is emptied: a search with a limit of 0 only checks
        // the right to search.
        for group in groups {
            let nothing = ItemQuery(.genericPassword, accessGroup: group, limit: .atMost(0))
            _ = try KeychainClient.session().copyMatching(nothing, returning: [])
        }
        for group in groups {
            for itemClass in ItemClass.stored {
                let query = ItemQuery(itemClass, accessGroup: group, synchronizable: .any)
                _ = try KeychainClient.session().delete(query)
            }
        }
    }
    guard status != errSecSuccess else { return true }
    error?.pointee = .passRetained(NSError(domain: NSOSStatusErrorDomain, code: Int(status)))
    return false
}

/// Runs a call and returns its status.
func status(_ body: () throws -> Void) -> OSStatus {
    do {
        try body()
        return errSecSuccess
    } catch let error as KeychainError {
        return error.statusForCaller.rawValue
    } catch {
        return OSStatusCode.internalFailure.rawValue
    }
}

extension KeychainError {
    /// The status that the caller gets. errSecAuthNeeded is a request to this library and never leaves it
    /// (keychain-behaviour §3.9): the authentication did not take place.
    var statusForCaller: OSStatusCode { status == .authNeeded ? .authFailed : status }
}
