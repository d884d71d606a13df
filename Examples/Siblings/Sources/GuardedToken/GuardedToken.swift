// SPDX-License-Identifier: Apache-2.0

import Foundation

// As packages for all platforms do: Apple's frameworks where they can be imported, swift-crypto elsewhere.
#if canImport(Security)
    import CryptoKit
    import Security
#else
    import Crypto
#endif

/// A signed token in the form of RFC 7515, with HMAC-SHA256.
public struct GuardedToken {
    public let compact: String

    public init(subject: String, key: [UInt8]) {
        let claims = #"{"sub":"\#(subject)","jti":"\#(Self.encoded(Self.identifier()))"}"#
        let signed = Self.encoded(Data(#"{"alg":"HS256"}"#.utf8)) + "." + Self.encoded(Data(claims.utf8))
        compact = signed + "." + Self.encoded(Self.code(signed, key))
    }

    public func isSigned(by key: [UInt8]) -> Bool {
        guard let dot = compact.lastIndex(of: ".") else { return false }
        return Self.encoded(Self.code(String(compact[..<dot]), key)) == compact[compact.index(after: dot)...]
    }

    /// The compiled implementation.
    public static var implementation: String {
        #if canImport(Security)
            "Security"
        #else
            "swift-crypto"
        #endif
    }

    private static func identifier() -> Data {
        var bytes = [UInt8](repeating: 0, count: 16)
        #if canImport(Security)
            _ = SecRandomCopyBytes(kSecRandomDefault, bytes.count, &bytes)
        #else
            for index in bytes.indices { bytes[index] = .random(in: 0...255) }
        #endif
        return Data(bytes)
    }

    private static func code(_ text: String, _ key: [UInt8]) -> Data {
        Data(HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: SymmetricKey(data: key)))
    }

    private static func encoded(_ data: Data) -> String {
        data.base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }
}
