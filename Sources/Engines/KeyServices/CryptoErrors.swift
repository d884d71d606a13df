// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
internal import LinuxSystem
package import OpenSSLCrypto

/// Runs a call of libcrypto. Its errors become errSecParam (keychain-behaviour §6.2).
package func crypto<Result: ~Copyable>(
    _ body: () throws(OpenSSLError) -> Result
) throws(KeychainError) -> Result {
    try withErrors(as: { KeychainError(.param, "the operation failed with this key: \($0.message)") }, body)
}

extension HashAlgorithm {
    package var function: HashFunction {
        switch self {
        case .sha1: .sha1
        case .sha224: .sha224
        case .sha256: .sha256
        case .sha384: .sha384
        case .sha512: .sha512
        }
    }
}

extension [UInt8] {
    /// Calls `body` with the bytes, with typed errors.
    package func withContiguousBytes<Result>(_ body: (UnsafeRawBufferPointer) throws(KeychainError) -> Result)
        throws(KeychainError) -> Result
    {
        try withUnsafeBufferPointer { (pointer) throws(KeychainError) in try body(UnsafeRawBufferPointer(pointer)) }
    }
}
