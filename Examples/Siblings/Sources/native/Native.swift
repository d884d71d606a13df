// SPDX-License-Identifier: Apache-2.0

import Latchkey

#if canImport(Security) || canImport(LocalAuthentication)
    #error("a sibling's alias must not be seen here")
#endif

/// New code that reads the secret that the ported target stored.
@main
struct Native {
    static func main() throws {
        let secret = try Keychain.default.string(for: GenericPassword(service: "siblings", account: "ported"))
        print("native: \(secret.count) characters")
    }
}
