// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// A prime curve of FIPS 186-4. All of them have the cofactor 1.
public enum EllipticCurve: Int, Sendable, CaseIterable {
    case p192 = 192
    case p224 = 224
    case p256 = 256
    case p384 = 384
    case p521 = 521

    /// The length of a field element in bytes.
    public var byteCount: Int { (rawValue + 7) / 8 }

    /// libcrypto's name.
    var name: String {
        switch self {
        case .p192: "prime192v1"
        case .p224: "secp224r1"
        case .p256: "prime256v1"
        case .p384: "secp384r1"
        case .p521: "secp521r1"
        }
    }

    var number: Int32 {
        switch self {
        case .p192: NID_X9_62_prime192v1
        case .p224: NID_secp224r1
        case .p256: NID_X9_62_prime256v1
        case .p384: NID_secp384r1
        case .p521: NID_secp521r1
        }
    }

    init?(name: String) {
        switch name {
        case "prime192v1", "P-192": self = .p192
        case "secp224r1", "P-224": self = .p224
        case "prime256v1", "P-256": self = .p256
        case "secp384r1", "P-384": self = .p384
        case "secp521r1", "P-521": self = .p521
        default: return nil
        }
    }

    /// Returns the public point of a private scalar, uncompressed (`04 ‖ X ‖ Y`); nil if the scalar
    /// is not between 1 and the order.
    ///
    /// - Parameter scalar: big-endian, of ``byteCount`` bytes.
    public func publicPoint(of scalar: UnsafeRawBufferPointer) throws(OpenSSLError) -> [UInt8]? {
        guard let group = EC_GROUP_new_by_curve_name(number) else { throw .last("selecting the curve") }
        defer { EC_GROUP_free(group) }
        guard let number = BN_secure_new(), let point = EC_POINT_new(group) else { throw .last("allocating a point") }
        defer {
            BN_clear_free(number)
            EC_POINT_free(point)
        }
        let bytes = scalar.assumingMemoryBound(to: UInt8.self).baseAddress
        guard BN_bin2bn(bytes, Int32(scalar.count), number) != nil else { throw .last("reading a scalar") }
        BN_set_flags(number, BN_FLG_CONSTTIME)
        guard BN_is_zero(number) == 0, BN_cmp(number, EC_GROUP_get0_order(group)) < 0 else { return nil }
        guard EC_POINT_mul(group, point, number, nil, nil, nil) == 1 else { throw .last("multiplying a point") }
        var encoded = [UInt8](repeating: 0, count: 1 + 2 * byteCount)
        let length = EC_POINT_point2oct(group, point, POINT_CONVERSION_UNCOMPRESSED, &encoded, encoded.count, nil)
        guard length == encoded.count else { throw .last("encoding a point") }
        return encoded
    }
}
