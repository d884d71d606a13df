// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyOperations
internal import LatchkeyService

// Creation, paths and deletion of keychains. As on macOS, a relative path is below ~/Library/Keychains.

/// Creates a keychain, unlocks it, and appends it to the search list.
///
/// - Parameters:
///   - pathName: the path. A marker file is created there; in `~/Library/Keychains`, its name ends in `-db`.
///   - passwordLength: the length of the password; 0 for a keychain that is always unlocked.
///   - password: the password.
///   - promptUser: must be false: a dialog for the password is not supported.
///   - initialAccess: accepted without effect; access groups separate programs.
///   - keychain: receives the keychain.
/// - Returns: errSecDuplicateKeychain, also for another file at the path; errSecInvalidKeychain for text that is not a
///   path; errSecInteractionNotAllowed for a prompt; errSecParam for a length without a password; errSecUnimplemented
///   in a process with its keychain in memory.
@available(*, deprecated, message: "use the user's own keychain: SecItemAdd without kSecUseKeychain")
@discardableResult
public func SecKeychainCreate(
    _ pathName: UnsafePointer<CChar>, _ passwordLength: UInt32, _ password: UnsafeRawPointer?, _ promptUser: Bool,
    _ initialAccess: SecAccess?, _ keychain: UnsafeMutablePointer<SecKeychain?>
) -> OSStatus {
    status {
        guard !promptUser else {
            throw KeychainError(.interactionNotAllowed, "a prompt for the password of a new keychain is unsupported")
        }
        let file = try KeychainFile(try KeychainName.path(pathName))
        let bytes = try CallerBytes(password, passwordLength)
        let passcode = bytes.isEmpty ? nil : bytes.secret
        try KeychainClient.createKeychain(file, passcode: passcode)
        if let passcode {
            let session = try KeychainClient.session(named: file.name)
            if try session.lockStatus().state != .unlocked { try session.unlock(passcode) { _, _ in } }
        }
        keychain.pointee = SecKeychain(file.name)
    }
}

/// Returns a keychain by its path, also if it does not exist: ``SecKeychainGetStatus(_:_:)`` reports
/// that.
///
/// - Parameters:
///   - pathName: the path.
///   - keychain: receives the keychain.
/// - Returns: errSecInvalidKeychain for text that is not a path, or for the path of another file.
@available(*, deprecated, message: "the functions without a keychain search all keychains of the search list")
@discardableResult
public func SecKeychainOpen(_ pathName: UnsafePointer<CChar>, _ keychain: UnsafeMutablePointer<SecKeychain?>)
    -> OSStatus
{
    status { keychain.pointee = SecKeychain(try KeychainName.named(pathName)) }
}

/// Deletes a keychain with everything in it, and removes it from the search list.
///
/// - Returns: errSecInvalidKeychain for nil; errSecNoSuchKeychain; errSecParam for the keychain that
///   every user has.
@available(*, deprecated, message: "use SecItemDelete for the items of a program")
@discardableResult
public func SecKeychainDelete(_ keychainOrArray: SecKeychain?) -> OSStatus {
    status {
        guard let name = keychainOrArray?.name else {
            throw KeychainError(.invalidKeychain, "no keychain is named")
        }
        try KeychainClient.deleteKeychain(name)
    }
}

/// Copies the path of a keychain, with a zero byte at the end.
///
/// - Parameters:
///   - keychain: the keychain; nil for the default keychain.
///   - ioPathLength: the capacity of `pathName` in bytes; receives the length of the path without
///     the zero byte, also if the buffer is too small.
///   - pathName: receives the path: of the database of the user's own keychain, of the file of another one or of its
///     directory if there is no file, or `ephemeral` for one in memory.
/// - Returns: errSecBufferTooSmall; errSecNoSuchKeychain.
@available(*, deprecated, message: "a program needs no paths of keychains")
@discardableResult
public func SecKeychainGetPath(
    _ keychain: SecKeychain?, _ ioPathLength: UnsafeMutablePointer<UInt32>, _ pathName: UnsafeMutablePointer<CChar>
) -> OSStatus {
    status {
        let name = try KeychainName.chosen(keychain)
        guard let place = try KeychainClient.keychains().place(name) else { throw UserKeychains.missing(name) }
        let path = Array(place.path.utf8) + [0]
        let capacity = Int(ioPathLength.pointee)
        ioPathLength.pointee = UInt32(clamping: path.count - 1)
        guard path.count <= capacity else {
            throw KeychainError(OSStatusCode(rawValue: errSecBufferTooSmall))
        }
        UnsafeMutableRawBufferPointer(start: pathName, count: path.count).copyBytes(from: path)
    }
}
