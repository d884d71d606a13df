// SPDX-License-Identifier: Apache-2.0

public import Foundation
internal import KeychainModel
public import LatchkeySecurity

/// The private half of the key of an ``LAPersistedRight``: a P-256 key that never leaves the
/// keychain. It can be used while the right is authorized; otherwise the calls fail with
/// `LAError.notInteractive`.
public final class LAPrivateKey: NSObject, Sendable {
    /// The public half.
    public let publicKey: LAPublicKey
    private let key: SecKey

    init(_ record: RightRecord, _ authorization: RightAuthorization) throws(KeychainError) {
        key = try SecKey.stored(at: record.key, publicKey: record.publicKey, kind: RightRecord.keyKind) {
            () throws(KeychainError) in try authorization.authentication()
        }
        publicKey = LAPublicKey(key.publicHalf)
    }

    /// Signs a message or a digest.
    ///
    /// - Parameters:
    ///   - data: the message or the digest, as the algorithm says.
    ///   - algorithm: one that ``canSign(using:)``.
    ///   - handler: called once, on another thread, with the signature or with an error.
    @preconcurrency
    public func sign(
        _ data: Data, algorithm: SecKeyAlgorithm, completion handler: @escaping @Sendable (Data?, (any Error)?) -> Void
    ) {
        runInBackground {
            try self.signature(of: data, algorithm)
        } completion: {
            handler($0.value, $0.error)
        }
    }

    /// Signs a message or a digest, with an algorithm that ``canSign(using:)``.
    public func sign(_ data: Data, algorithm: SecKeyAlgorithm) async throws -> Data {
        try await inBackground { try self.signature(of: data, algorithm) }
    }

    /// Whether the key supports the algorithm for signatures.
    public func canSign(using algorithm: SecKeyAlgorithm) -> Bool {
        SecKeyIsAlgorithmSupported(key, .sign, algorithm)
    }

    /// Decrypts data that was encrypted for the public half.
    ///
    /// - Parameters:
    ///   - data: the ciphertext.
    ///   - algorithm: one that ``canDecrypt(using:)``.
    ///   - handler: called once, on another thread, with the plaintext or with an error.
    @preconcurrency
    public func decrypt(
        _ data: Data, algorithm: SecKeyAlgorithm, completion handler: @escaping @Sendable (Data?, (any Error)?) -> Void
    ) {
        runInBackground {
            try self.plaintext(of: data, algorithm)
        } completion: {
            handler($0.value, $0.error)
        }
    }

    /// Decrypts data that was encrypted for the public half, with an algorithm that
    /// ``canDecrypt(using:)``.
    public func decrypt(_ data: Data, algorithm: SecKeyAlgorithm) async throws -> Data {
        try await inBackground { try self.plaintext(of: data, algorithm) }
    }

    /// Whether the key supports the algorithm for decryption.
    public func canDecrypt(using algorithm: SecKeyAlgorithm) -> Bool {
        SecKeyIsAlgorithmSupported(key, .decrypt, algorithm)
    }

    /// Computes a shared secret with the public key of another party.
    ///
    /// - Parameters:
    ///   - publicKey: the other party's P-256 key, `04 ‖ X ‖ Y`.
    ///   - algorithm: one that ``canExchangeKeys(using:)``.
    ///   - parameters: by the names of `SecKeyKeyExchangeParameter`; not changed during the call.
    ///   - handler: called once, on another thread, with the shared secret or with an error.
    @preconcurrency
    public func exchangeKeys(
        publicKey: Data, algorithm: SecKeyAlgorithm, parameters: [AnyHashable: Any],
        completion handler: @escaping @Sendable (Data?, (any Error)?) -> Void
    ) {
        let parameters = ExchangeValues(parameters)
        runInBackground {
            try self.sharedSecret(with: publicKey, algorithm, parameters)
        } completion: {
            handler($0.value, $0.error)
        }
    }

    /// Computes a shared secret with the public key of another party; see
    /// ``exchangeKeys(publicKey:algorithm:parameters:completion:)``.
    public func exchangeKeys(
        publicKey: Data, algorithm: SecKeyAlgorithm, parameters: [AnyHashable: Any]
    ) async throws -> Data {
        let parameters = ExchangeValues(parameters)
        return try await inBackground { try self.sharedSecret(with: publicKey, algorithm, parameters) }
    }

    /// Whether the key supports the algorithm for key exchange.
    public func canExchangeKeys(using algorithm: SecKeyAlgorithm) -> Bool {
        SecKeyIsAlgorithmSupported(key, .keyExchange, algorithm)
    }

    private func signature(of data: Data, _ algorithm: SecKeyAlgorithm) throws -> Data {
        try keyCall { SecKeyCreateSignature(key, algorithm, data as NSData, $0) }
    }

    private func plaintext(of data: Data, _ algorithm: SecKeyAlgorithm) throws -> Data {
        try keyCall { SecKeyCreateDecryptedData(key, algorithm, data as NSData, $0) }
    }

    private func sharedSecret(
        with publicKey: Data, _ algorithm: SecKeyAlgorithm, _ parameters: ExchangeValues
    ) throws -> Data {
        let kind = [kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeyClass: kSecAttrKeyClassPublic]
        var error: Unmanaged<CFError>?
        guard let other = SecKeyCreateWithData(publicKey as NSData, kind as NSDictionary, &error) else {
            throw keyError(error)
        }
        return try keyCall { SecKeyCopyKeyExchangeResult(key, algorithm, other, parameters.dictionary, $0) }
    }
}

/// The parameters of a key exchange, for the thread that computes it.
// Unchecked, because the dictionary is a copy that is only read; its values are numbers and data.
private struct ExchangeValues: @unchecked Sendable {
    let dictionary: NSDictionary

    init(_ parameters: [AnyHashable: Any]) { dictionary = parameters as NSDictionary }
}
