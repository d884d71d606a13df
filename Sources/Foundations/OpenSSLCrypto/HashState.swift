// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
internal import SecretMemory

/// The state of a hash function between two parts of a message, as plain bytes: a copy is a second
/// state, and the memory of a state may be uninitialized until ``start(_:)``.
///
/// The function is a parameter of each call and not part of the state, so that no content of the
/// memory can choose it. A state that was started for one function and continued with another
/// results in a wrong digest, but is memory-safe.
public struct HashState: BitwiseCopyable, Sendable {
    /// As large and as aligned as the largest of libcrypto's states, `SHA512_CTX`.
    private var words = InlineArray<27, UInt64>(repeating: 0)

    public init() {}

    /// Starts a message.
    public mutating func start(_ function: DigestFunction) {
        switch function {
        case .md5: withState(of: MD5_CTX.self) { latchkey_md5_init($0) }
        case .sha1: withState(of: SHA_CTX.self) { latchkey_sha1_init($0) }
        case .sha224: withState(of: SHA256_CTX.self) { latchkey_sha224_init($0) }
        case .sha256: withState(of: SHA256_CTX.self) { latchkey_sha256_init($0) }
        case .sha384: withState(of: SHA512_CTX.self) { latchkey_sha384_init($0) }
        case .sha512: withState(of: SHA512_CTX.self) { latchkey_sha512_init($0) }
        }
    }

    /// Continues the message with `bytes`.
    public mutating func update(_ function: DigestFunction, with bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return }
        switch function {
        case .md5: withState(of: MD5_CTX.self) { latchkey_md5_update($0, start, bytes.count) }
        case .sha1: withState(of: SHA_CTX.self) { latchkey_sha1_update($0, start, bytes.count) }
        case .sha224, .sha256: withState(of: SHA256_CTX.self) { latchkey_sha256_update($0, start, bytes.count) }
        case .sha384, .sha512: withState(of: SHA512_CTX.self) { latchkey_sha512_update($0, start, bytes.count) }
        }
    }

    /// Ends the message and writes its digest of `function.byteCount` bytes to `digest`.
    /// The state is wiped.
    public mutating func finish(_ function: DigestFunction, into digest: UnsafeMutablePointer<UInt8>) {
        let length = UInt32(function.byteCount)
        switch function {
        case .md5: withState(of: MD5_CTX.self) { latchkey_md5_final($0, digest) }
        case .sha1: withState(of: SHA_CTX.self) { latchkey_sha1_final($0, digest) }
        case .sha224, .sha256: withState(of: SHA256_CTX.self) { latchkey_sha256_final($0, length, digest) }
        case .sha384, .sha512: withState(of: SHA512_CTX.self) { latchkey_sha512_final($0, length, digest) }
        }
        // Some of libcrypto's functions leave the end of the message in the state.
        withUnsafeMutableBytes(of: &words) { SecretBytes.wipe($0) }
    }

    private mutating func withState<State>(of type: State.Type, _ body: (UnsafeMutablePointer<State>) -> Void) {
        withUnsafeMutableBytes(of: &words) { bytes in
            bytes.withMemoryRebound(to: State.self) { states in
                guard let state = states.baseAddress, !states.isEmpty else { return }
                body(state)
            }
        }
    }
}
