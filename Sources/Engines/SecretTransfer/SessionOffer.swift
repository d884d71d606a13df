// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLCrypto
internal import SecretMemory
public import SystemBus

/// A client's half of the key exchange of a session, under the name ``SessionCipher/diffieHellmanName``.
///
///     let offer = try SessionOffer()
///     // OpenSession with offer.input answers an output and the path of the session.
///     let cipher = try offer.cipher(answeredBy: output)
public struct SessionOffer: Sendable {
    private let exchange: ModularDiffieHellman

    /// - Throws: `Failed` if no key could be generated.
    public init() throws(BusFailure) {
        do throws(OpenSSLError) {
            exchange = try ModularDiffieHellman(generatingIn: .bits1024)
        } catch {
            throw .failed("no key could be generated: \(error.message)")
        }
    }

    /// The public key, as input for the service.
    public var input: BusValue { .bytes(exchange.publicKey) }

    /// Returns the cipher of the session.
    ///
    /// - Parameter output: the public key of the service.
    /// - Throws: `InvalidArgs` for a value that is no public key, or a weak one.
    public func cipher(answeredBy output: BusValue) throws(BusFailure) -> SessionCipher {
        guard let peer = output.byteArray else { throw .invalidArguments("the output is not a public key") }
        // EXPOSE: this is a public key.
        let key: [UInt8] = peer.withUnsafeBytes { Array($0) }
        do throws(OpenSSLError) {
            return .aes(try SessionCipher.key(exchange, with: key))
        } catch {
            throw .invalidArguments("the public key of the service is not valid: \(error.message)")
        }
    }
}
