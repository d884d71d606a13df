// SPDX-License-Identifier: Apache-2.0

import Security

/// A program that does not know Latchkey: it stores a secret, or prints one. It shares its items
/// with the command: `security find-generic-password` finds them, and this program prints those
/// that `security add-generic-password` stores.
@main
struct Notes {
    static func main() {
        let arguments = Array(CommandLine.arguments.dropFirst())
        switch (arguments.first, arguments.count) {
        case ("set", 4): finish(set(service: arguments[1], account: arguments[2], secret: arguments[3]))
        case ("get", 3): finish(get(service: arguments[1], account: arguments[2]))
        default: finish(errSecParam, hint: "usage: notes set SERVICE ACCOUNT SECRET | notes get SERVICE ACCOUNT")
        }
    }

    private static func set(service: String, account: String, secret: String) -> OSStatus {
        let query = item(service, account)
        let content: [String: Any] = [kSecValueData as String: Data(secret.utf8)]
        let status = SecItemUpdate(query as CFDictionary, content as CFDictionary)
        guard status == errSecItemNotFound else { return status }
        return SecItemAdd(query.merging(content) { $1 } as CFDictionary, nil)
    }

    private static func get(service: String, account: String) -> OSStatus {
        var query = item(service, account)
        query[kSecReturnData as String] = true
        var result: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &result)
        if let secret = result as? Data { print(String(decoding: secret, as: UTF8.self)) }
        return status
    }

    private static func item(_ service: String, _ account: String) -> [String: Any] {
        [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: service,
            kSecAttrAccount as String: account,
        ]
    }

    /// Ends the program with 0, or with 1 and an explanation.
    private static func finish(_ status: OSStatus, hint: String? = nil) -> Never {
        guard status != errSecSuccess else { exit(0) }
        let reason = hint ?? (SecCopyErrorMessageString(status, nil) as String?) ?? "status \(status)"
        FileHandle.standardError.write(Data("notes: \(reason)\n".utf8))
        exit(1)
    }
}
