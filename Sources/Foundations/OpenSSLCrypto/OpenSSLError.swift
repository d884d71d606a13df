// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// Why libcrypto did not do what it was asked. The words are its own; they hold no input.
public struct OpenSSLError: Error, Sendable {
    public let message: String

    /// The last error of this thread, whose queue is emptied.
    static func last(_ operation: String) -> OpenSSLError {
        let code = ERR_get_error()
        ERR_clear_error()
        guard code != 0, let reason = ERR_reason_error_string(code) else {
            return OpenSSLError(message: "\(operation) failed")
        }
        return OpenSSLError(message: "\(operation): \(String(cString: reason))")
    }
}
