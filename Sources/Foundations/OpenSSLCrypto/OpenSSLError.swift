// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// Why a libcrypto operation failed. The text is libcrypto's and contains no input.
public struct OpenSSLError: Error, Sendable {
    public let message: String

    /// Returns the first error of this thread's queue, and empties the queue.
    static func last(_ operation: String) -> OpenSSLError {
        let code = ERR_get_error()
        ERR_clear_error()
        guard code != 0, let reason = ERR_reason_error_string(code) else {
            return OpenSSLError(message: "\(operation) failed")
        }
        return OpenSSLError(message: "\(operation): \(String(cString: reason))")
    }
}
