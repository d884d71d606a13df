// SPDX-License-Identifier: Apache-2.0

// Data and Foundation's base 64 come with Security.
import Security

/// Random bytes that cannot be guessed: a session token, a nonce, a salt.
struct RandomToken: Hashable {
    let data: Data

    init(count: Int = 32) throws {
        var bytes = [UInt8](repeating: 0, count: count)
        let status = SecRandomCopyBytes(kSecRandomDefault, bytes.count, &bytes)
        guard status == errSecSuccess else { throw KeychainError.unhandled(status) }
        data = Data(bytes)
    }

    /// The token as it may stand in a URL: base 64 with `-` and `_`, without padding (RFC 4648, section 5).
    var urlSafeText: String {
        data.base64EncodedString()
            .replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }
}
