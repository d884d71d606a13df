// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyClient
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
///   - attributes: the class, the item's attributes, its data, and what to return (`kSecReturn…`). With `kSecUseItemList`, an array of keys, of
///     certificates or of identities, all of them are added, or none, and the result is an array.
///   - result: receives what was asked for: Data, a `SecKey`, `SecCertificate` or `SecIdentity`, a dictionary, or nothing.
/// - Returns: errSecSuccess; errSecDuplicateItem where an item with the same primary key exists; errSecParam or errSecNoSuchAttr for a
///   dictionary that cannot be understood; errSecMissingEntitlement for a group that is not the program's; errSecNotAvailable.
@discardableResult
public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    status {
        let request = try AddRequest(parsing: attributes)
        var addition = ObjectAddition()
        let records = try addition.addAll(of: request)
        guard let result, !request.returning.isEmpty, let first = records.first else { return }
        result.pointee =
            request.isList
            ? try ItemResults.all(records, returning: request.returning)
            : try ItemResults.added(first, returning: request.returning)
    }
}

/// Finds items.
///
/// - Parameters:
///   - query: the class or a persistent reference, the attributes to match, the limit (one by default) and what to return.
///   - result: receives, with a limit of one, Data or a dictionary; with any other limit an array of them, in the order in which the
///     items were added; nothing where nothing was asked for.
/// - Returns: errSecSuccess; errSecItemNotFound; errSecInteractionNotAllowed where a matching item's class is closed; errSecParam,
///   errSecNoSuchAttr, errSecNoSuchClass, errSecUnimplemented, errSecMissingEntitlement, errSecNotAvailable.
@discardableResult
public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    status {
        let request = try CopyRequest(parsing: query)
        let records = try request.matches()
        // Damaged rows are passed over; where nothing else matched, nothing matched.
        guard !records.isEmpty else { throw KeychainError.itemNotFound }
        guard let result else { return }
        if request.limitsToOne {
            result.pointee = try records.first.flatMap { try ItemResults.one($0, returning: request.returning) }
        } else {
            result.pointee = try ItemResults.all(records, returning: request.returning)
        }
    }
}

/// Changes every matching item, all or none. What `attributesToUpdate` does not name stays as it is.
///
/// Match keys in `query` have no effect, kSecMatchLimit among them; kSecMatchItemList is obeyed.
///
/// - Returns: errSecSuccess; errSecItemNotFound; errSecDuplicateItem where a changed primary key meets another item;
///   errSecParam for return keys in `query`, errSecNoSuchAttr for anything but attributes and data in `attributesToUpdate`.
@discardableResult
public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus {
    status {
        let query = try ChangeRequest(parsing: query, for: .update)
        let update = try UpdateRequest(parsing: attributesToUpdate, of: query.itemClass)
        try query.lookup.perform { (query) throws(KeychainError) in
            _ = try KeychainClient.service().update(query, with: update.update, from: KeychainClient.caller)
        }
    }
}

/// Deletes every matching item.
///
/// Match keys have no effect, kSecMatchLimit among them; kSecMatchItemList is obeyed.
///
/// - Returns: errSecSuccess; errSecItemNotFound.
@discardableResult
public func SecItemDelete(_ query: CFDictionary) -> OSStatus {
    status {
        let query = try ChangeRequest(parsing: query, for: .delete)
        try query.lookup.perform { (query) throws(KeychainError) in
            _ = try KeychainClient.service().delete(query, from: KeychainClient.caller)
        }
    }
}

/// Deletes every item of every class in the named access groups, local and synchronised.
///
/// - Parameter accessGroups: strings. `*` and the groups that belong to the system are refused, and nothing is deleted then.
/// - Returns: whether it was done; `error` receives an NSError in NSOSStatusErrorDomain where not.
@discardableResult
public func SecItemDeleteAllWithAccessGroups(
    _ accessGroups: CFArray, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> Bool {
    let status = status {
        guard let groups = accessGroups as? [String],
            Set(groups).isDisjoint(with: [
                "*", "apple", "com.apple.security.sos", "com.apple.token", "lockdown-identities",
            ])
        else { throw KeychainError.parameter("expected names of access groups that are the program's own") }
        // Every group is judged before any is emptied: a search for no items asks only for the right to search.
        for group in groups {
            do throws(KeychainError) {
                let nothing = ItemQuery(.genericPassword, accessGroup: group, limit: .atMost(0))
                _ = try KeychainClient.service().copyMatching(nothing, returning: [], from: KeychainClient.caller)
            } catch {
                guard error.status == .itemNotFound else { throw error }
            }
        }
        for group in groups {
            for itemClass in ItemClass.stored {
                let query = ItemQuery(itemClass, accessGroup: group, synchronizable: .any)
                do throws(KeychainError) {
                    try KeychainClient.service().delete(query, from: KeychainClient.caller)
                } catch {
                    guard error.status == .itemNotFound else { throw error }
                }
            }
        }
    }
    guard status != errSecSuccess else { return true }
    error?.pointee = .passRetained(NSError(domain: NSOSStatusErrorDomain, code: Int(status)))
    return false
}

/// Runs a call and answers its status.
func status(_ body: () throws -> Void) -> OSStatus {
    do {
        try body()
        return errSecSuccess
    } catch let error as KeychainError {
        warnProgram(of: error)
        return error.status.rawValue
    } catch {
        return OSStatusCode.internalFailure.rawValue
    }
}

/// Tells the program's logger what the status alone does not say.
func warnProgram(of error: KeychainError) {
    if error == .constraintsUnsupported { ProgramLog.current.warn(.constraintsRefused) }
}
