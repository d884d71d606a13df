// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyOperations
internal import LatchkeyService
internal import SecretMemory

/// The attributes of a password, given as buffers. An empty one is no condition in a search, and not
/// set in a new item.
struct KeychainPassword {
    let itemClass: ItemClass
    private(set) var attributes: [ItemAttribute: AttributeValue] = [:]

    init(_ itemClass: ItemClass) { self.itemClass = itemClass }

    mutating func set(
        _ attribute: ItemAttribute, _ start: UnsafePointer<CChar>?, _ length: UInt32
    ) throws(KeychainError) {
        let bytes = try CallerBytes(start, length)
        if !bytes.isEmpty { attributes[attribute] = .string(try bytes.text()) }
    }

    mutating func set(_ attribute: ItemAttribute, _ text: String?) {
        if let text { attributes[attribute] = .string(text) }
    }

    mutating func set(_ attribute: ItemAttribute, _ number: Int64) {
        if number != 0 { attributes[attribute] = .number(number) }
    }

    /// - Throws: errSecParam for a list that is too long.
    mutating func set(_ access: SecAccess?) throws(KeychainError) {
        if let access { attributes[.accessList] = try access.accessList().attributeValue }
    }

    mutating func merge(_ given: KeychainAttributes) { attributes.merge(given.values) { _, new in new } }

    // MARK: Searching

    /// Returns the first matching item in the order of the keychains.
    ///
    /// A keychain that is locked, or cannot be opened, is passed over.
    ///
    /// - Throws: if there is no item: the first reason why a keychain could not be searched, or
    ///   errSecItemNotFound.
    func first(
        in keychains: [KeychainName], returning: ReturnTypes
    ) throws(KeychainError) -> (item: KeychainItemBody, record: ItemRecord) {
        let query = ItemQuery(itemClass, attributes: attributes, synchronizable: .any, limit: .one)
        var problem: KeychainError?
        for name in keychains {
            do throws(KeychainError) {
                let session = try KeychainClient.session(named: name)
                let found = try session.copyMatching(query, returning: returning).records
                if let record = found.first {
                    return (KeychainItemBody(keychain: name, reference: record.persistentReference), record)
                }
            } catch {
                switch error.status {
                case .itemNotFound: continue
                case .notAvailable, .noSuchKeychain, .invalidKeychain: problem = problem ?? error
                case .interactionNotAllowed where error.authentication == nil: problem = problem ?? error
                default: throw error
                }
            }
        }
        throw problem ?? .itemNotFound
    }

    /// Finds an item and gives the caller the requested password and reference.
    func find(
        in keychainOrArray: Any?, _ passwordLength: UnsafeMutablePointer<UInt32>?,
        _ passwordData: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
        _ itemRef: UnsafeMutablePointer<SecKeychainItem?>?
    ) throws(KeychainError) {
        let wantsSecret = passwordData != nil || passwordLength != nil
        let (item, record) = try first(
            in: try KeychainName.searched(keychainOrArray), returning: wantsSecret ? .data : [])
        if wantsSecret { Self.give(record.secrets?.data, passwordLength, passwordData) }
        itemRef?.pointee = SecKeychainItem(item)
    }

    /// Copies a secret into memory of the caller.
    static func give(
        _ secret: SharedSecret?, _ length: UnsafeMutablePointer<UInt32>?,
        _ data: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
    ) {
        length?.pointee = UInt32(clamping: secret?.count ?? 0)
        // EXPOSE: the caller asked for the secret in memory of its own; SecKeychainItemFreeContent wipes this memory.
        data?.pointee =
            secret.flatMap { $0.withUnsafeBytes { GivenMemory.copy($0) } } ?? GivenMemory.allocate(0).baseAddress
    }

    // MARK: Adding

    /// Adds a new item to a keychain; nil for the default keychain.
    func add(
        to keychain: SecKeychain?, _ secret: SharedSecret, _ itemRef: UnsafeMutablePointer<SecKeychainItem?>?
    ) throws(KeychainError) {
        let name = try KeychainName.chosen(keychain)
        let addition = ItemAddition(itemClass, attributes: attributes, secrets: ItemSecrets(data: secret))
        let record = try KeychainClient.session(named: name).add(addition)
        itemRef?.pointee = SecKeychainItem(
            KeychainItemBody(keychain: name, reference: record.persistentReference))
    }
}
