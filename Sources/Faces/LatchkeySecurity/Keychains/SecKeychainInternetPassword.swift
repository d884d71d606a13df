// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// Finds an internet password. An empty text, a port of 0, and `.any` are no condition.
///
/// - Parameters:
///   - keychainOrArray: a `SecKeychain`, an array of them, or nil for the search list. The first
///     keychain with a matching item decides.
///   - serverNameLength: the length of the server's name in bytes.
///   - serverName: the server's name in UTF-8.
///   - securityDomainLength: the length of the security domain in bytes.
///   - securityDomain: the security domain in UTF-8.
///   - accountNameLength: the length of the account in bytes.
///   - accountName: the account in UTF-8.
///   - pathLength: the length of the path in bytes.
///   - path: the path in UTF-8.
///   - port: the port.
///   - protocol: the protocol.
///   - authenticationType: how the password is sent.
///   - passwordLength: receives the length of the password in bytes.
///   - passwordData: receives the password, to be freed with
///     ``SecKeychainItemFreeContent(_:_:)``.
///   - itemRef: receives the item.
/// - Returns: as ``SecKeychainFindGenericPassword(_:_:_:_:_:_:_:_:)``.
@available(*, deprecated, message: "use SecItemCopyMatching with kSecClassInternetPassword")
@discardableResult
public func SecKeychainFindInternetPassword(
    _ keychainOrArray: Any?, _ serverNameLength: UInt32, _ serverName: UnsafePointer<CChar>?,
    _ securityDomainLength: UInt32, _ securityDomain: UnsafePointer<CChar>?, _ accountNameLength: UInt32,
    _ accountName: UnsafePointer<CChar>?, _ pathLength: UInt32, _ path: UnsafePointer<CChar>?, _ port: UInt16,
    _ `protocol`: SecProtocolType, _ authenticationType: SecAuthenticationType,
    _ passwordLength: UnsafeMutablePointer<UInt32>?, _ passwordData: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
    _ itemRef: UnsafeMutablePointer<SecKeychainItem?>?
) -> OSStatus {
    status {
        var password = KeychainPassword(.internetPassword)
        try password.set(.server, serverName, serverNameLength)
        try password.set(.securityDomain, securityDomain, securityDomainLength)
        try password.set(.account, accountName, accountNameLength)
        try password.set(.path, path, pathLength)
        password.set(.port, Int64(port))
        password.set(.protocol, `protocol`.attribute)
        password.set(.authenticationType, authenticationType.attribute)
        try password.find(in: keychainOrArray, passwordLength, passwordData, itemRef)
    }
}

/// Adds an internet password, with its server as the label.
///
/// - Parameters:
///   - keychain: the keychain; nil for the default keychain.
///   - serverNameLength: the length of the server's name in bytes.
///   - serverName: the server's name in UTF-8.
///   - securityDomainLength: the length of the security domain in bytes.
///   - securityDomain: the security domain in UTF-8.
///   - accountNameLength: the length of the account in bytes.
///   - accountName: the account in UTF-8.
///   - pathLength: the length of the path in bytes.
///   - path: the path in UTF-8.
///   - port: the port; 0 for none.
///   - protocol: the protocol.
///   - authenticationType: how the password is sent.
///   - passwordLength: the length of the password in bytes.
///   - passwordData: the password.
///   - itemRef: receives the item.
/// - Returns: as ``SecKeychainAddGenericPassword(_:_:_:_:_:_:_:_:)``.
@available(*, deprecated, message: "use SecItemAdd with kSecClassInternetPassword")
@discardableResult
public func SecKeychainAddInternetPassword(
    _ keychain: SecKeychain?, _ serverNameLength: UInt32, _ serverName: UnsafePointer<CChar>?,
    _ securityDomainLength: UInt32, _ securityDomain: UnsafePointer<CChar>?, _ accountNameLength: UInt32,
    _ accountName: UnsafePointer<CChar>?, _ pathLength: UInt32, _ path: UnsafePointer<CChar>?, _ port: UInt16,
    _ `protocol`: SecProtocolType, _ authenticationType: SecAuthenticationType, _ passwordLength: UInt32,
    _ passwordData: UnsafeRawPointer?, _ itemRef: UnsafeMutablePointer<SecKeychainItem?>?
) -> OSStatus {
    status {
        var password = KeychainPassword(.internetPassword)
        try password.set(.server, serverName, serverNameLength)
        try password.set(.label, serverName, serverNameLength)
        try password.set(.securityDomain, securityDomain, securityDomainLength)
        try password.set(.account, accountName, accountNameLength)
        try password.set(.path, path, pathLength)
        password.set(.port, Int64(port))
        password.set(.protocol, `protocol`.attribute)
        password.set(.authenticationType, authenticationType.attribute)
        try password.add(to: keychain, CallerBytes(passwordData, passwordLength).secret, itemRef)
    }
}
