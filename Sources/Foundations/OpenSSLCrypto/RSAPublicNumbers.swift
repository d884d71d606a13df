// SPDX-License-Identifier: Apache-2.0

/// The rules for the public numbers of an RSA key (RFC 8017, section 3.1), common to keys and certificates. The numbers
/// are big-endian, without leading zeros.
public enum RSAPublicNumbers {
    /// Returns why the numbers are refused, independently of the size; nil if they are accepted. An
    /// exponent of more than 64 bits would make each operation slow.
    public static func defect(
        modulus: some BidirectionalCollection<UInt8>, exponent: some BidirectionalCollection<UInt8>
    ) -> String? {
        guard let lowest = modulus.last, lowest & 1 == 1 else { return "the RSA modulus must be odd" }
        guard let last = exponent.last, last & 1 == 1, exponent.count > 1 || last > 1 else {
            return "the RSA public exponent must be odd and greater than 1"
        }
        return exponent.count <= 8 ? nil : "the RSA public exponent must have at most 64 bits"
    }

    /// The size of a modulus in bits; 0 if it is empty.
    public static func bits(of modulus: some Collection<UInt8>) -> Int {
        modulus.first.map { modulus.count * 8 - $0.leadingZeroBitCount } ?? 0
    }

    /// Returns the error of a modulus with a size that is not accepted.
    public static func wrongSize(_ bits: Int, accepted: ClosedRange<Int>) -> String {
        "the RSA modulus must have \(accepted.lowerBound) to \(accepted.upperBound) bits, found \(bits)"
    }
}
