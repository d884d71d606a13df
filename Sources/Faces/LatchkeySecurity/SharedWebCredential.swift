// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
public import Foundation
internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyService
internal import SecretMemory

// Passwords of websites (Apple's SecSharedCredential.h). Here they are internet passwords in the
// program's own access groups, with the protocol https and the authentication type of a form. They
// are not shared with browsers, no website is contacted, and no dialog is shown.

/// Stores, changes or deletes the password of an account on a website.
///
/// - Parameters:
///   - fqdn: the host, such as `example.com`, or `example.com:8443`.
///   - account: the name of the account.
///   - password: nil deletes the credential.
///   - completionHandler: called once, on a system queue, with nil or an NSError in
///     NSOSStatusErrorDomain: errSecParam; errSecItemNotFound if there is nothing to delete; or a
///     status of `SecItemAdd` or `SecItemUpdate`.
public func SecAddSharedWebCredential(
    _ fqdn: CFString, _ account: CFString, _ password: CFString?,
    _ completionHandler: @escaping @Sendable (CFError?) -> Void
) {
    let (fqdn, account) = (fqdn as String, account as String)
    let secret = password.map { SharedSecret(copying: ($0 as String).utf8) }
    inBackground { (keychain) throws(KeychainError) in
        guard !account.isEmpty else { throw .parameter("the account of a web credential must not be empty") }
        try keychain.set(try WebCredential(fqdn: fqdn, account: account), to: secret)
    } completion: {
        completionHandler($0.error)
    }
}

/// Finds the passwords of a website.
///
/// - Parameters:
///   - fqdn: the host, with a port if it is not 443; nil for every website.
///   - account: nil for every account.
///   - completionHandler: called once, on a system queue, with an array of dictionaries
///     (`kSecAttrServer`, `kSecAttrAccount`, `kSecSharedPassword`, and `kSecAttrPort` if it is not
///     443), or with an NSError: errSecItemNotFound, errSecParam, or a status of
///     `SecItemCopyMatching`.
public func SecRequestSharedWebCredential(
    _ fqdn: CFString?, _ account: CFString?, _ completionHandler: @escaping @Sendable (CFArray?, CFError?) -> Void
) {
    let (fqdn, account) = (fqdn as String?, account as String?)
    inBackground { (keychain) throws(KeychainError) in
        try keychain.find(try WebCredential(fqdn: fqdn, account: account))
    } completion: {
        // The array is created here because Foundation objects cannot be passed between queues.
        completionHandler($0.value.map { $0.map(\.dictionary) as NSArray }, $0.error)
    }
}

/// Returns a new password, such as `abC-dE3-fGh-k4m`: twelve letters and digits without
/// similar-looking ones, about 69 bits of entropy.
public func SecCreateSharedWebCredentialPassword() -> CFString? {
    let kinds = ["ABCDEFGHJKLMNPQRSTUVWXYZ", "abcdefghkmnopqrstuvwxyz", "23456789"].map(Array.init)
    let alphabet = kinds.flatMap { $0 }
    // The generator uses getrandom(2) on Linux.
    var generator = SystemRandomNumberGenerator()
    var characters: [Character] = []
    repeat {
        characters = (0..<12).compactMap { _ in alphabet.randomElement(using: &generator) }
    } while !kinds.allSatisfy { kind in characters.contains { kind.contains($0) } }
    let groups = stride(from: 0, to: characters.count, by: 3).map {
        String(characters[$0..<min($0 + 3, characters.count)])
    }
    return NSString(string: groups.joined(separator: "-"))
}

/// Runs a call on a system queue, on behalf of the current caller.
private func inBackground<Value: Sendable>(
    _ body: @escaping @Sendable (WebCredentialKeychain) throws(KeychainError) -> Value,
    completion: @escaping @Sendable (_ outcome: (value: Value?, error: NSError?)) -> Void
) {
    let keychain: WebCredentialKeychain
    do throws(KeychainError) {
        keychain = WebCredentialKeychain(session: try KeychainClient.session())
    } catch {
        return DispatchQueue.global().async { completion((nil, NSError(error))) }
    }
    DispatchQueue.global().async {
        do throws(KeychainError) {
            completion((try body(keychain), nil))
        } catch {
            completion((nil, NSError(error)))
        }
    }
}
