// SPDX-License-Identifier: Apache-2.0

import CommonCrypto
import CryptoKit
import Foundation
import LocalAuthentication
import Security

#if !canImport(Security) || !canImport(LocalAuthentication)
    #error("a target with the alias has Apple's module name")
#endif

/// A target of an app, as it stands on Apple's platforms.
@main
struct Ported {
    static func main() throws {
        let token = Data("s3cret".utf8)
        let query: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: "siblings",
            kSecAttrAccount as String: "ported",
        ]
        Security.SecItemDelete(query as CFDictionary)
        try check(Security.SecItemAdd(query.merging([kSecValueData as String: token]) { $1 } as CFDictionary, nil))
        var result: CFTypeRef?
        try check(SecItemCopyMatching(query.merging([kSecReturnData as String: true]) { $1 } as CFDictionary, &result))
        guard let stored = result as? Data, stored == token else { throw Failure(status: errSecDecode) }
        guard hexadecimal(digest(stored)) == hexadecimal(SHA256.hash(data: stored)) else {
            throw Failure(status: errSecDecode)
        }
        print("ported: \(hexadecimal(digest(stored)))")
        var problem: NSError?
        let canAsk = LAContext().canEvaluatePolicy(.deviceOwnerAuthentication, error: &problem)
        print("ported: \(canAsk ? "can ask" : "cannot ask, \((problem as? LAError)?.errorCode ?? 0)")")
    }

    private static func digest(_ data: Data) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Int(CC_SHA256_DIGEST_LENGTH))
        data.withUnsafeBytes { _ = CC_SHA256($0.baseAddress, CC_LONG($0.count), &digest) }
        return digest
    }

    private static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { String(format: "%02x", $0) }.joined()
    }

    private static func check(_ status: OSStatus) throws {
        guard status == errSecSuccess else { throw Failure(status: status) }
    }

    struct Failure: Error {
        let status: OSStatus
    }
}
