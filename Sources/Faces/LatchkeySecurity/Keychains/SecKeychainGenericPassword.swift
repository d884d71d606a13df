// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// Finds a generic password.
///
/// - Parameters:
///   - keychainOrArray: a `SecKeychain`, an array of them, or nil for the search list. The first
///     keychain with a matching item decides.
///   - serviceNameLength: the length of the service in bytes; 0 for any service.
///   - serviceName: the service in UTF-8.
///   - accountNameLength: the length of the account in bytes; 0 for any account.
///   - accountName: the account in UTF-8.
///   - passwordLength: receives the length of the password in bytes.
///   - passwordData: receives the password, to be freed with
///     ``SecKeychainItemFreeContent(_:_:)``.
///   - itemRef: receives the item.
/// - Returns: errSecItemNotFound; errSecInteractionNotAllowed if a keychain is locked and no other
///   one has the item; errSecNoSuchKeychain; errSecParam for a length without bytes, text that is
///   not UTF-8, and other objects.
@available(*, deprecated, message: "use SecItemCopyMatching with kSecClassGenericPassword")
@discardableResult
public func SecKeychainFindGenericPassword(
    _ keychainOrArray: Any?, _ serviceNameLength: UInt32, _ serviceName: UnsafePointer<CChar>?,
    _ accountNameLength: UInt32, _ accountName: UnsafePointer<CChar>?,
    _ passwordLength: UnsafeMutablePointer<UInt32>?, _ passwordData: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
    _ itemRef: UnsafeMutablePointer<SecKeychainItem?>?
) -> OSStatus {
    status {
        var password = KeychainPassword(.genericPassword)
        try password.set(.service, serviceName, serviceNameLength)
        try password.set(.account, accountName, accountNameLength)
        try password.find(in: keychainOrArray, passwordLength, passwordData, itemRef)
    }
}

/// Adds a generic password, with its service as the label.
///
/// - Parameters:
///   - keychain: the keychain; nil for the default keychain.
///   - serviceNameLength: the length of the service in bytes.
///   - serviceName: the service in UTF-8.
///   - accountNameLength: the length of the account in bytes.
///   - accountName: the account in UTF-8.
///   - passwordLength: the length of the password in bytes.
///   - passwordData: the password.
///   - itemRef: receives the item.
/// - Returns: errSecDuplicateItem; errSecNoSuchKeychain; errSecInteractionNotAllowed if the keychain
///   is locked; errSecParam for a length without bytes and text that is not UTF-8.
@available(*, deprecated, message: "use SecItemAdd with kSecClassGenericPassword")
@discardableResult
public func SecKeychainAddGenericPassword(
    _ keychain: SecKeychain?, _ serviceNameLength: UInt32, _ serviceName: UnsafePointer<CChar>?,
    _ accountNameLength: UInt32, _ accountName: UnsafePointer<CChar>?, _ passwordLength: UInt32,
    _ passwordData: UnsafeRawPointer?, _ itemRef: UnsafeMutablePointer<SecKeychainItem?>?
) -> OSStatus {
    status {
        var password = KeychainPassword(.genericPassword)
        try password.set(.service, serviceName, serviceNameLength)
        try password.set(.label, serviceName, serviceNameLength)
        try password.set(.account, accountName, accountNameLength)
        try password.add(to: keychain, CallerBytes(passwordData, passwordLength).secret, itemRef)
    }
}
