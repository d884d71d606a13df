// SPDX-License-Identifier: Apache-2.0

internal import SecretMemory

/// A secret with a zero byte behind it, as C wants its strings.
struct CString {
    private let bytes: SharedSecret

    /// Ends at the first zero byte of the secret, as it does for everybody who reads it.
    init(_ secret: SharedSecret) {
        bytes = SharedSecret(
            SecretBytes(count: secret.count + 1) { buffer in
                secret.withUnsafeBytes {
                    UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(secret.count)).copyMemory(from: $0)
                }
                buffer[secret.count] = 0
            })
    }

    var isEmpty: Bool { bytes.withUnsafeBytes { $0[0] == 0 } }

    func withPointer<Result, Failure>(_ body: (UnsafePointer<CChar>) throws(Failure) -> Result) throws(Failure)
        -> Result
    {
        try bytes.withUnsafeBytes { (bytes) throws(Failure) in
            // The zero byte makes it never empty.
            try body(bytes.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: CChar.self))
        }
    }
}
