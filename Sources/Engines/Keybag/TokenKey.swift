// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem
internal import OpenSSLCrypto
internal import SecretMemory

/// The index key, prepared for search tokens. It is in secret memory and lives as long as its
/// keybag, so that a call computes tokens without preparing the key.
public final class TokenKey: Sendable {
    private let key: HMACKey
    private let cached = SystemMutex<[(message: [UInt8], token: SearchToken)]>([])

    init(_ indexKey: SharedSecret) {
        key = indexKey.withUnsafeBytes { HMACKey($0) }
    }

    /// Returns a search token: the first 16 bytes of `HMAC-SHA-256(index key, message)`.
    public func token(_ message: [UInt8]) -> SearchToken {
        let token = withUnsafeTemporaryAllocation(byteCount: HMACKey.codeByteCount, alignment: 8) { code in
            message.withUnsafeBytes { key.writeCode(of: $0, to: code) }
            return SearchToken(UnsafeRawBufferPointer(rebasing: code.prefix(SearchToken.byteCount)))
        }
        // A failure, because no caller can handle it: both lengths are constants.
        guard let token else { preconditionFailure("a code has \(HMACKey.codeByteCount) bytes") }
        return token
    }

    /// Returns the same for a message that is in most calls, such as that of an access group. The
    /// first few are kept.
    public func cachedToken(_ message: [UInt8]) -> SearchToken {
        let known = cached.withLock { cached in cached.first { $0.message == message }?.token }
        if let known { return known }
        let token = token(message)
        cached.withLock { cached in
            if cached.count < Self.maxCached { cached.append((message, token)) }
        }
        return token
    }

    private static let maxCached = 16
}
