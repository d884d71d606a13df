// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
internal import LinuxSystem
public import SecretMemory

extension AsymmetricKey {
    /// Creates a key from its point and, for a private key, its scalar.
    ///
    /// - Parameters:
    ///   - point: uncompressed.
    ///   - scalar: big-endian. It is not checked that it belongs to the point
    ///     (``EllipticCurve/publicPoint(of:)``).
    /// - Throws: ``OpenSSLError`` if the point is not on the curve.
    public convenience init(
        _ curve: EllipticCurve, point: UnsafeRawBufferPointer, scalar: UnsafeRawBufferPointer? = nil
    ) throws(OpenSSLError) {
        var parameters = KeyParameters()
        parameters.add("group", text: curve.groupName)
        parameters.add("pub", octets: point)
        if let scalar { parameters.add("priv", number: scalar) }
        let selection = scalar == nil ? LATCHKEY_PUBLIC_KEY : LATCHKEY_KEYPAIR
        self.init(
            adopting: try parameters.withParameters { (list) throws(OpenSSLError) in
                try Self.make("EC", selection, list)
            })
    }

    /// Creates a public key on the curve of another key. This is faster than by name.
    ///
    /// - Throws: ``OpenSSLError`` if the point is not on the curve.
    public convenience init(point: UnsafeRawBufferPointer, ofSameCurveAs other: AsymmetricKey) throws(OpenSSLError) {
        guard let key = EVP_PKEY_new() else { throw .last("creating a key") }
        self.init(adopting: key)
        guard EVP_PKEY_copy_parameters(key, other.pointer) == 1,
            EVP_PKEY_set1_encoded_public_key(key, point.octets, point.count) == 1
        else { throw .last("creating a key") }
    }

    /// Generates a key.
    public static func generate(_ curve: EllipticCurve) throws(OpenSSLError) -> AsymmetricKey {
        let template = try CurveTemplate.of(curve)
        guard let context = EVP_PKEY_CTX_new_from_pkey(nil, template.pointer, nil) else {
            throw .last("generating a key")
        }
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1, EVP_PKEY_generate(context, &key) == 1, let key else {
            throw .last("generating a key")
        }
        return AsymmetricKey(adopting: key)
    }

    /// The public point, uncompressed: `04 ‖ X ‖ Y`.
    public func publicPoint(of curve: EllipticCurve) throws(OpenSSLError) -> [UInt8] {
        let size = curve.byteCount
        var octets = [UInt8](repeating: 0, count: 1 + 2 * size)
        var length = 0
        if EVP_PKEY_get_octet_string_param(pointer, "pub", &octets, octets.count, &length) == 1, length == octets.count,
            octets[0] == 4
        {
            return octets
        }
        // A key that was read with a compressed point returns the compressed form.
        ERR_clear_error()
        let point = try SecretBytes(count: 1 + 2 * size) { (buffer) throws(OpenSSLError) in
            buffer[0] = 4
            try readNumber("qx", into: UnsafeMutableRawBufferPointer(rebasing: buffer[1..<1 + size]))
            try readNumber("qy", into: UnsafeMutableRawBufferPointer(rebasing: buffer[(1 + size)...]))
        }
        return point.withUnsafeBytes { Array($0) }
    }

    /// The private scalar, big-endian, as long as a field element.
    public func scalar(of curve: EllipticCurve) throws(OpenSSLError) -> SecretBytes {
        try SecretBytes(count: curve.byteCount) { (buffer) throws(OpenSSLError) in try readNumber("priv", into: buffer)
        }
    }
}

/// Keys that have a curve and no numbers, created once. libcrypto copies the constants of a curve from such a key. If
/// it only has the curve's name, it computes them for each new key, and this takes longer than the rest of the
/// generation.
private enum CurveTemplate {
    /// Only successes are kept: a failure may be temporary.
    private static let templates = SystemMutex<[EllipticCurve: AsymmetricKey]>([:])

    static func of(_ curve: EllipticCurve) throws(OpenSSLError) -> AsymmetricKey {
        if let known = templates.withLock({ $0[curve] }) { return known }
        let fresh = try make(curve)
        templates.withLock { $0[curve] = fresh }
        return fresh
    }

    private static func make(_ curve: EllipticCurve) throws(OpenSSLError) -> AsymmetricKey {
        guard let context = EVP_PKEY_CTX_new_from_name(nil, "EC", nil) else { throw .last("selecting the curve") }
        defer { EVP_PKEY_CTX_free(context) }
        var template: OpaquePointer?
        guard EVP_PKEY_paramgen_init(context) == 1,
            EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, curve.number) == 1,
            EVP_PKEY_paramgen(context, &template) == 1, let template
        else { throw .last("selecting the curve") }
        return AsymmetricKey(adopting: template)
    }
}

extension EllipticCurve {
    fileprivate var groupName: StaticString {
        switch self {
        case .p192: "prime192v1"
        case .p224: "secp224r1"
        case .p256: "prime256v1"
        case .p384: "secp384r1"
        case .p521: "secp521r1"
        }
    }
}
