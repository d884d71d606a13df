// SPDX-License-Identifier: Apache-2.0

internal import SecretMemory

/// A secret with a terminating zero byte, as C strings have.
struct CString {
    private let bytes: SharedSecret

    /// The C string ends at the first zero byte of the secret, if there is one.
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
            // It is never empty because of the zero byte.
            try body(bytes.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: CChar.self))
        }
    }
}
