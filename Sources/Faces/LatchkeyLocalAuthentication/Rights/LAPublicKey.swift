// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import LatchkeySecurity

/// The public half of the key of an ``LAPersistedRight``. It needs no authorization.
public final class LAPublicKey: NSObject, Sendable {
    let key: SecKey

    init(_ key: SecKey) { self.key = key }

    /// Returns the key as `04 ‖ X ‖ Y` (X9.63).
    ///
    /// - Parameter handler: called once, on another thread.
    @preconcurrency
    public func exportBytes(completion handler: @escaping @Sendable (Data?, (any Error)?) -> Void) {
        runInBackground(export) { handler($0.value, $0.error) }
    }

    /// The key as `04 ‖ X ‖ Y` (X9.63).
    public var bytes: Data {
        get async throws { try await inBackground(export) }
    }

    /// Encrypts data for the private half.
    ///
    /// - Parameters:
    ///   - data: the plaintext.
    ///   - algorithm: one that ``canEncrypt(using:)``.
    ///   - handler: called once, on another thread, with the ciphertext or with an error.
    @preconcurrency
    public func encrypt(
        _ data: Data, algorithm: SecKeyAlgorithm, completion handler: @escaping @Sendable (Data?, (any Error)?) -> Void
    ) {
        runInBackground {
            try self.encrypted(data, algorithm)
        } completion: {
            handler($0.value, $0.error)
        }
    }

    /// Encrypts data for the private half, with an algorithm that ``canEncrypt(using:)``.
    public func encrypt(_ data: Data, algorithm: SecKeyAlgorithm) async throws -> Data {
        try await inBackground { try self.encrypted(data, algorithm) }
    }

    /// Whether the key supports the algorithm for encryption.
    public func canEncrypt(using algorithm: SecKeyAlgorithm) -> Bool {
        SecKeyIsAlgorithmSupported(key, .encrypt, algorithm)
    }

    /// Verifies a signature of the private half.
    ///
    /// - Parameters:
    ///   - signedData: the message or the digest, as the algorithm says.
    ///   - signature: the signature.
    ///   - algorithm: one that ``canVerify(using:)``.
    ///   - handler: called once, on another thread, with nil or with an error: `errSecVerifyFailed`
    ///     for a wrong signature.
    @preconcurrency
    public func verify(
        _ signedData: Data, signature: Data, algorithm: SecKeyAlgorithm,
        completion handler: @escaping @Sendable ((any Error)?) -> Void
    ) {
        runInBackground {
            try self.check(signature, of: signedData, algorithm)
        } completion: {
            handler($0.error)
        }
    }

    /// Throws unless the private half made the signature; see
    /// ``verify(_:signature:algorithm:completion:)``.
    public func verify(_ signedData: Data, signature: Data, algorithm: SecKeyAlgorithm) async throws {
        try await inBackground { try self.check(signature, of: signedData, algorithm) }
    }

    /// Whether the key supports the algorithm for the verification of signatures.
    public func canVerify(using algorithm: SecKeyAlgorithm) -> Bool {
        SecKeyIsAlgorithmSupported(key, .verify, algorithm)
    }

    @Sendable private func export() throws -> Data {
        try keyCall { SecKeyCopyExternalRepresentation(key, $0) }
    }

    private func encrypted(_ data: Data, _ algorithm: SecKeyAlgorithm) throws -> Data {
        try keyCall { SecKeyCreateEncryptedData(key, algorithm, data as NSData, $0) }
    }

    private func check(_ signature: Data, of signedData: Data, _ algorithm: SecKeyAlgorithm) throws {
        var error: Unmanaged<CFError>?
        guard !SecKeyVerifySignature(key, algorithm, signedData as NSData, signature as NSData, &error) else { return }
        throw keyError(error)
    }
}
