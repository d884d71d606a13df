// SPDX-License-Identifier: Apache-2.0

public import Foundation
internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyService

// The keychains that are searched, and the one that gets new items.

/// Copies the default keychain for new items.
@available(*, deprecated, message: "SecItemAdd without kSecUseKeychain adds to the default keychain")
@discardableResult
public func SecKeychainCopyDefault(_ keychain: UnsafeMutablePointer<SecKeychain?>) -> OSStatus {
    status { keychain.pointee = SecKeychain(try KeychainName.chosen(nil)) }
}

/// Sets the default keychain of the user, for all programs; nil changes nothing.
///
/// - Returns: errSecNoSuchKeychain; errSecUnimplemented in a process with its keychain in memory.
@available(*, deprecated, message: "use kSecUseKeychain; it changes nothing for other programs")
@discardableResult
public func SecKeychainSetDefault(_ keychain: SecKeychain?) -> OSStatus {
    status {
        guard let keychain else { return }
        try KeychainClient.registry().changeKeychainList(.defaultKeychain(keychain.name))
    }
}

/// Copies the search list: an array of `SecKeychain`, in the order of the search. It may contain
/// keychains that do not exist.
@available(*, deprecated, message: "SecItemCopyMatching searches the keychains of the search list")
@discardableResult
public func SecKeychainCopySearchList(_ searchList: UnsafeMutablePointer<CFArray?>) -> OSStatus {
    status {
        let names = try KeychainClient.registry().keychains().list.search
        searchList.pointee = NSArray(array: names.map { SecKeychain($0) })
    }
}

/// Sets the search list of the user, for all programs. A keychain in it that does not exist is searched
/// once it does.
///
/// - Returns: errSecParam for anything but an array of `SecKeychain`; errSecUnimplemented in a process with its
///   keychain in memory.
@available(*, deprecated, message: "use kSecMatchSearchList; it changes nothing for other programs")
@discardableResult
public func SecKeychainSetSearchList(_ searchList: CFArray) -> OSStatus {
    status {
        let names = try KeychainName.searched(searchList)
        try KeychainClient.registry().changeKeychainList(.search(names))
    }
}
