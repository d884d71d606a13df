// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import KeychainModel

extension SecKeychain {
    /// Stores the objects of an imported file in this keychain. A certificate that is stored already
    /// stays as it is.
    ///
    /// - Parameter access: the access list of the keys; nil for none.
    /// - Throws: errSecDuplicateItem for a key or an identity that is stored already; all identities
    ///   are stored, or none, and so are all keys.
    func store(_ objects: [NSObject], _ access: SecAccess?) throws(KeychainError) {
        try store(all: objects.filter { $0 is SecIdentity }, access)
        try store(all: objects.filter { $0 is SecKey }, access)
        for certificate in objects where certificate is SecCertificate {
            do throws(KeychainError) {
                try store(all: [certificate], nil)
            } catch {
                guard error.status == .duplicateItem else { throw error }
            }
        }
    }

    private func store(all objects: [NSObject], _ access: SecAccess?) throws(KeychainError) {
        guard !objects.isEmpty else { return }
        var attributes: [CFString: Any] = [kSecUseItemList: objects, kSecUseKeychain: self]
        if let access { attributes[kSecAttrAccess] = access }
        let request = try AddRequest(parsing: NSDictionary(dictionary: attributes))
        try request.keychain.perform { () throws(KeychainError) -> Void in
            var addition = ObjectAddition(authentication: Authentication())
            _ = try addition.addAll(of: request)
        }
    }
}
