// SPDX-License-Identifier: Apache-2.0

import GuardedToken

@main
struct Tokens {
    static func main() {
        let token = GuardedToken(subject: "alice", key: Array("key".utf8))
        guard token.isSigned(by: Array("key".utf8)), !token.isSigned(by: Array("other".utf8)) else {
            fatalError("not signed")
        }
        print("tokens: \(GuardedToken.implementation)")
    }
}
