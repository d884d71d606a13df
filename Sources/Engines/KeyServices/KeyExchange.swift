// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import SecretMemory

/// The parameters of a key exchange with a derivation.
public struct ExchangeParameters: Sendable {
    /// The number of derived bytes (`kSecKeyKeyExchangeParameterRequestedSize`).
    public var requestedSize: Int?
    /// Information that both sides share (`kSecKeyKeyExchangeParameterSharedInfo`).
    public var sharedInfo: [UInt8]

    public init(requestedSize: Int? = nil, sharedInfo: [UInt8] = []) {
        self.requestedSize = requestedSize
        self.sharedInfo = sharedInfo
    }

    /// The maximum number of derived bytes, 1 MiB. No key is longer.
    public static let maxSize = 1 << 20
}

extension PrivateKey {
    /// Returns the shared secret of this key and another public key: the x-coordinate, or the bytes
    /// that X9.63 derives from it.
    ///
    /// - Throws: errSecParam if the curves differ, or the requested size is missing.
    public func exchanged(
        with other: PublicKey, _ algorithm: KeyAlgorithm, _ parameters: ExchangeParameters = ExchangeParameters()
    ) throws(KeychainError) -> SharedSecret {
        try algorithm.requireSupport(by: kind, .privateKey, for: .exchange)
        guard case .ecdh(_, let derivation) = algorithm else {
            throw .parameter("the algorithm \(algorithm.rawValue) is not a key exchange algorithm")
        }
        guard other.kind == kind else {
            throw .parameter("a key exchange needs two keys of the same curve, found \(kind) and \(other.kind)")
        }
        if derivation != nil, parameters.requestedSize == nil { throw .parameter("the requested size is missing") }
        let sharedSecret = try keyAgreement(with: other)
        guard let derivation, let size = parameters.requestedSize else { return sharedSecret }
        guard 1...ExchangeParameters.maxSize ~= size else { throw .parameter("unsupported requested size \(size)") }
        return try X963.derived(from: sharedSecret, info: parameters.sharedInfo, derivation, count: size)
    }
}
