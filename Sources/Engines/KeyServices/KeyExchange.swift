// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import SecretMemory

/// What a key exchange with a derivation is told beside the keys.
public struct ExchangeParameters: Sendable {
    /// How many bytes are wanted (`kSecKeyKeyExchangeParameterRequestedSize`).
    public var requestedSize: Int?
    /// What both sides know beside the keys (`kSecKeyKeyExchangeParameterSharedInfo`).
    public var sharedInfo: [UInt8]

    public init(requestedSize: Int? = nil, sharedInfo: [UInt8] = []) {
        self.requestedSize = requestedSize
        self.sharedInfo = sharedInfo
    }

    /// A megabyte: more is no key.
    public static let maxSize = 1 << 20
}

extension PrivateKey {
    /// What this key and another one's public half agree on: the x-coordinate, or what X9.63 derives from it.
    ///
    /// - Throws: errSecParam where the curves differ, or the requested size is missing.
    public func exchanged(
        with other: PublicKey, _ algorithm: KeyAlgorithm, _ parameters: ExchangeParameters = ExchangeParameters()
    ) throws(KeychainError) -> SharedSecret {
        try algorithm.requireSupport(by: kind, .privateKey, for: .exchange)
        guard case .ecdh(_, let derivation) = algorithm else {
            throw .parameter("the algorithm \(algorithm.rawValue) is not one for a key exchange")
        }
        guard other.kind == kind else { throw .parameter("a key \(kind) agrees on nothing with a key \(other.kind)") }
        if derivation != nil, parameters.requestedSize == nil { throw .parameter("the requested size is missing") }
        let sharedSecret = try keyAgreement(with: other)
        guard let derivation, let size = parameters.requestedSize else { return sharedSecret }
        guard 1...ExchangeParameters.maxSize ~= size else { throw .parameter("\(size) bytes are not derived") }
        return try X963.derived(from: sharedSecret, info: parameters.sharedInfo, derivation, count: size)
    }
}
