// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
public import SecretMemory

/// Diffie-Hellman in a group of integers modulo a prime, with the generator 2, for formats that
/// others have defined. Use ``X25519`` for everything else.
///
/// The private key and the result are in secret memory; while a call runs, libcrypto has copies of them, and wipes the
/// copies.
public struct ModularDiffieHellman: Sendable {
    /// The groups that the Secret Service and GNOME's prompts use.
    public enum Group: Sendable, CaseIterable {
        /// The second Oakley group (RFC 2409, section 6.2): 1024 bits.
        case bits1024
        /// RFC 3526, section 2: 1536 bits.
        case bits1536

        /// The length of public keys and shared secrets in bytes.
        public var byteCount: Int {
            switch self {
            case .bits1024: 128
            case .bits1536: 192
            }
        }

        /// A new number. The caller must free it.
        fileprivate var prime: OpaquePointer? {
            switch self {
            case .bits1024: BN_get_rfc2409_prime_1024(nil)
            case .bits1536: BN_get_rfc3526_prime_1536(nil)
            }
        }
    }

    public let group: Group
    private let privateKey: SharedSecret
    /// Big-endian, as long as the prime.
    public let publicKey: [UInt8]

    /// Generates a key pair.
    public init(generatingIn group: Group) throws(OpenSSLError) {
        try self.init(group, privateKey: SharedSecret(SecretBytes.random(count: Self.privateByteCount)))
    }

    /// - Parameter privateKey: a big-endian number; for tests.
    public init(_ group: Group, privateKey: SharedSecret) throws(OpenSSLError) {
        self.group = group
        self.privateKey = privateKey
        var publicKey = [UInt8](repeating: 0, count: group.byteCount)
        let secret = try Self.power(of: [2], privateKey, group)
        // EXPOSE: this is the public key.
        secret.withUnsafeBytes { bytes in publicKey.withUnsafeMutableBytes { $0.copyMemory(from: bytes) } }
        self.publicKey = publicKey
    }

    /// Returns the shared secret, with zeros before it to the length of the prime.
    ///
    /// - Parameter peer: the public key of the other side, of any length up to that of the prime.
    /// - Throws: ``OpenSSLError`` if it is 0, 1, or not less than the prime minus 1: everyone knows the secrets that
    ///   these yield.
    public func sharedSecret(with peer: [UInt8]) throws(OpenSSLError) -> SharedSecret {
        guard peer.count <= group.byteCount else {
            throw OpenSSLError(message: "a public key has at most \(group.byteCount) bytes, found \(peer.count)")
        }
        return SharedSecret(try Self.power(of: peer, privateKey, group))
    }

    /// Twice the strength of the groups, and more.
    private static let privateByteCount = 48

    /// Returns `base ^ exponent` modulo the prime.
    private static func power(
        of base: [UInt8], _ exponent: SharedSecret, _ group: Group
    ) throws(OpenSSLError) -> SecretBytes {
        let (prime, limit, number) = (group.prime, BN_new(), BN_new())
        let (secret, result) = (BN_secure_new(), BN_secure_new())
        let context = BN_CTX_secure_new()
        defer {
            for value in [prime, limit, number] { BN_free(value) }
            for value in [secret, result] { BN_clear_free(value) }
            BN_CTX_free(context)
        }
        guard prime != nil, limit != nil, number != nil, secret != nil, result != nil, context != nil else {
            throw .last("allocating numbers")
        }
        let isRead = exponent.withUnsafeBytes { exponent in
            BN_bin2bn(exponent.octets, Int32(clamping: exponent.count), secret) != nil
                && BN_bin2bn(base, Int32(clamping: base.count), number) != nil
        }
        guard isRead, BN_sub(limit, prime, BN_value_one()) == 1 else { throw .last("reading a number") }
        guard BN_cmp(number, BN_value_one()) > 0, BN_cmp(number, limit) < 0 else {
            throw OpenSSLError(message: "the public key is not between 1 and the prime")
        }
        BN_set_flags(secret, BN_FLG_CONSTTIME)
        guard BN_mod_exp_mont_consttime(result, number, secret, prime, context, nil) == 1 else {
            throw .last("Diffie-Hellman")
        }
        return try SecretBytes(count: group.byteCount) { (output) throws(OpenSSLError) in
            let start = output.assumingMemoryBound(to: UInt8.self).baseAddress
            guard BN_bn2binpad(result, start, Int32(clamping: output.count)) >= 0 else {
                throw .last("writing a number")
            }
        }
    }
}
