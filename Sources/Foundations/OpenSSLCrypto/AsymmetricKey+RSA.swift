// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
public import SecretMemory

extension AsymmetricKey {
    /// Creates a key from its numbers, without checking them (``RSAKeyParts/isConsistent()``).
    public convenience init(_ parts: RSAKeyParts) throws(OpenSSLError) {
        var parameters = KeyParameters()
        parameters.add("n", number: parts.modulus)
        parameters.add("e", number: parts.publicExponent)
        for (name, secret) in zip(Self.secretNames, parts.secrets) { parameters.add(name, number: secret) }
        let selection = parts.secrets.isEmpty ? LATCHKEY_PUBLIC_KEY : LATCHKEY_KEYPAIR
        self.init(
            adopting: try parameters.withParameters { (list) throws(OpenSSLError) in
                try Self.make("RSA", selection, list)
            })
    }

    /// Generates a key with the public exponent 65537.
    ///
    /// - Parameter isCancelled: called many times a second during the search for primes; true ends
    ///   the search.
    /// - Throws: ``OpenSSLError``, also if the search was cancelled.
    public static func generateRSA(bits: Int, isCancelled: () -> Bool = { false }) throws(OpenSSLError) -> AsymmetricKey
    {
        try withoutActuallyEscaping(isCancelled) { (isCancelled) throws(OpenSSLError) in
            let check = CancellationCheck(isCancelled)
            defer { withExtendedLifetime(check) {} }
            return AsymmetricKey(
                adopting: try generate("RSA") { context in
                    guard EVP_PKEY_CTX_set_rsa_keygen_bits(context, Int32(bits)) == 1 else { return false }
                    EVP_PKEY_CTX_set_app_data(context, Unmanaged.passUnretained(check).toOpaque())
                    // 0 ends the generation (EVP_PKEY_CTX_set_cb(3)).
                    EVP_PKEY_CTX_set_cb(context) { context in
                        guard let data = EVP_PKEY_CTX_get_app_data(context) else { return 1 }
                        return Unmanaged<CancellationCheck>.fromOpaque(data).takeUnretainedValue().isCancelled() ? 0 : 1
                    }
                    return true
                })
        }
    }

    /// Passes a closure through libcrypto.
    private final class CancellationCheck {
        let isCancelled: () -> Bool
        init(_ isCancelled: @escaping () -> Bool) { self.isCancelled = isCancelled }
    }

    /// Returns the modulus and the public exponent, big-endian and without leading zeros.
    public func publicRSANumbers() throws(OpenSSLError) -> (modulus: [UInt8], exponent: [UInt8]) {
        (try publicNumber("n"), try publicNumber("e"))
    }

    /// Returns the secret numbers in the order of ``RSAKeyParts/secrets``, without leading zeros.
    public func secretRSANumbers() throws(OpenSSLError) -> [SharedSecret] {
        var numbers: [SharedSecret] = []
        for name in Self.secretNames {
            let length = try length(of: "\(name)")
            numbers.append(
                SharedSecret(
                    try SecretBytes(count: length) { (buffer) throws(OpenSSLError) in
                        try readNumber("\(name)", into: buffer)
                    }))
        }
        return numbers
    }

    /// Writes the private exponent d, big-endian, padded with leading zeros to the length of the
    /// buffer.
    public func readPrivateExponent(into buffer: UnsafeMutableRawBufferPointer) throws(OpenSSLError) {
        try readNumber("d", into: buffer)
    }

    private func publicNumber(_ name: String) throws(OpenSSLError) -> [UInt8] {
        let secret = try SecretBytes(count: try length(of: name)) { (buffer) throws(OpenSSLError) in
            try readNumber(name, into: buffer)
        }
        return secret.withUnsafeBytes { Array($0) }
    }

    private func length(of name: String) throws(OpenSSLError) -> Int {
        var number: OpaquePointer?
        guard EVP_PKEY_get_bn_param(pointer, name, &number) == 1, let number else {
            throw .last("reading the key's \(name)")
        }
        defer { BN_clear_free(number) }
        return Int(BN_num_bits(number) + 7) / 8
    }

    private static let secretNames: [StaticString] = [
        "d", "rsa-factor1", "rsa-factor2", "rsa-exponent1", "rsa-exponent2", "rsa-coefficient1",
    ]
}
