// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLCrypto
internal import SecretMemory

/// The index key, prepared for search tokens. It is in secret memory and lives as long as its
/// keybag, so that a call computes tokens without preparing the key.
public final class TokenKey: Sendable {
    private let key: HMACKey

    init(_ indexKey: SharedSecret) {
        key = indexKey.withUnsafeBytes { HMACKey($0) }
    }

    /// Returns a search token: the first 16 bytes of `HMAC-SHA-256(index key, message)`.
    public func token(_ message: [UInt8]) -> [UInt8] {
        withUnsafeTemporaryAllocation(byteCount: HMACKey.codeByteCount, alignment: 1) { code in
            message.withUnsafeBytes { key.writeCode(of: $0, to: code) }
            return Array(code.prefix(Self.tokenLength))
        }
    }

    /// The length of a token in bytes.
    public static let tokenLength = 16
}
