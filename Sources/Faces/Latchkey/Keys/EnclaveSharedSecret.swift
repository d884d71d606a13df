// SPDX-License-Identifier: Apache-2.0

public import Crypto
public import FoundationEssentials
internal import KeychainModel
internal import LinuxSystem
internal import SecretMemory

/// A secret that a key of a Secure Enclave has agreed on. It has the functions of swift-crypto's `SharedSecret` (only
/// swift-crypto can create one), and is wiped.
public struct EnclaveSharedSecret: Sendable {
    private let secret: SecretMemory.SharedSecret

    init(_ secret: SecretMemory.SharedSecret) { self.secret = secret }

    /// Calls `body` with the 32 bytes of the x-coordinate.
    public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try secret.withUnsafeBytes(body)
    }

    /// Derives a key with HKDF (RFC 5869).
    public func hkdfDerivedSymmetricKey<Hash: HashFunction>(
        using hashFunction: Hash.Type, salt: some DataProtocol, sharedInfo: some DataProtocol, outputByteCount: Int
    ) -> SymmetricKey {
        HKDF<Hash>.deriveKey(
            inputKeyMaterial: secret.withUnsafeBytes { SymmetricKey(data: $0) }, salt: Data(salt),
            info: Data(sharedInfo), outputByteCount: outputByteCount)
    }

    /// Derives a key with the function of ANSI X9.63.
    public func x963DerivedSymmetricKey<Hash: HashFunction>(
        using hashFunction: Hash.Type, sharedInfo: some DataProtocol, outputByteCount: Int
    ) -> SymmetricKey {
        let derived = SecretBytes(count: outputByteCount) { output in
            var (start, counter) = (0, UInt32(1))
            while start < outputByteCount {
                var hash = Hash()
                secret.withUnsafeBytes { hash.update(bufferPointer: $0) }
                hash.update(data: counter.bigEndianBytes)
                hash.update(data: Array(sharedInfo))
                let block = hash.finalize()
                for byte in block.prefix(outputByteCount - start) {
                    output[start] = byte
                    start += 1
                }
                counter += 1
            }
        }
        return derived.withUnsafeBytes { SymmetricKey(data: $0) }
    }
}
