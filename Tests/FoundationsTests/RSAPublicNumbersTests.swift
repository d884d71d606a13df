// SPDX-License-Identifier: Apache-2.0

import OpenSSLCrypto
import Testing

/// Keys and certificates refuse the same public numbers of RSA keys, with the same reasons.
@Suite("Public numbers of RSA keys")
struct RSAPublicNumbersTests {
    private static let modulus = [UInt8](repeating: 0xC1, count: 256)

    @Test(
        "An exponent must be odd, greater than 1 and at most 64 bits",
        arguments: [
            ([3], nil), ([1, 0, 1], nil), ([UInt8](repeating: 0xFF, count: 8), nil),
            ([], "odd and greater than 1"), ([1], "odd and greater than 1"), ([2], "odd and greater than 1"),
            ([1, 0, 0], "odd and greater than 1"), ([UInt8](repeating: 1, count: 9), "at most 64 bits"),
        ] as [([UInt8], String?)])
    func exponents(_ exponent: [UInt8], _ reason: String?) {
        let defect = RSAPublicNumbers.defect(modulus: Self.modulus, exponent: exponent)
        if let reason {
            #expect(defect?.hasPrefix("the RSA public exponent must") == true && defect?.hasSuffix(reason) == true)
        } else {
            #expect(defect == nil)
        }
    }

    @Test("A modulus must be odd", arguments: [([0xC0], true), ([0xC1, 0], true), ([], true), ([0xC1], false)])
    func moduli(_ modulus: [UInt8], _ isRefused: Bool) {
        let defect = RSAPublicNumbers.defect(modulus: modulus, exponent: [1, 0, 1] as [UInt8])
        #expect(defect == (isRefused ? "the RSA modulus must be odd" : nil))
    }

    @Test(
        "The size is that of the modulus without leading zero bits",
        arguments: [
            ([], 0), ([1], 1), ([0x80], 8), ([0x7F, 0], 15), ([UInt8](repeating: 0x80, count: 256), 2048),
        ] as [([UInt8], Int)])
    func sizes(_ modulus: [UInt8], _ bits: Int) {
        #expect(RSAPublicNumbers.bits(of: modulus) == bits)
        #expect(
            RSAPublicNumbers.wrongSize(bits, accepted: 512...8192)
                == "the RSA modulus must have 512 to 8192 bits, found \(bits)")
    }
}
