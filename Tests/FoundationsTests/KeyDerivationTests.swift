// SPDX-License-Identifier: Apache-2.0

import LinuxSystem
import OpenSSLCrypto
import Testing

@Suite("HMAC and HKDF")
struct KeyDerivationTests {
    /// A test case of RFC 4231 with SHA-256.
    struct Vector: Sendable, CustomTestStringConvertible {
        let number: Int
        let key: [UInt8]
        let message: [UInt8]
        let code: String

        var testDescription: String { "case \(number)" }
    }

    static let vectors = [
        Vector(
            number: 1, key: .init(repeating: 0x0b, count: 20), message: Array("Hi There".utf8),
            code: "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
        Vector(
            number: 2, key: Array("Jefe".utf8), message: Array("what do ya want for nothing?".utf8),
            code: "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
        Vector(
            number: 3, key: .init(repeating: 0xaa, count: 20), message: .init(repeating: 0xdd, count: 50),
            code: "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"),
        Vector(
            number: 4, key: Array(1...25), message: .init(repeating: 0xcd, count: 50),
            code: "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"),
        Vector(
            number: 6, key: .init(repeating: 0xaa, count: 131),
            message: Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
            code: "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"),
        Vector(
            number: 7, key: .init(repeating: 0xaa, count: 131),
            message: Array(
                ("This is a test using a larger than block-size key and a larger than block-size data. "
                    + "The key needs to be hashed before being used by the HMAC algorithm.").utf8),
            code: "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"),
    ]

    @Test("A prepared key and a single call have the codes of RFC 4231, each time", arguments: vectors)
    func codes(_ vector: Vector) {
        vector.key.withUnsafeBytes { key in
            let prepared = HMACKey(key)
            for _ in 0..<3 {
                var code = [UInt8](repeating: 0, count: HMACKey.codeByteCount)
                vector.message.withUnsafeBytes { message in
                    code.withUnsafeMutableBytes { prepared.writeCode(of: message, to: $0) }
                }
                #expect(Hexadecimal.text(code) == vector.code)
            }
            #expect(Hexadecimal.text(KeyDerivation.hmac(vector.message, key: key)) == vector.code)
        }
    }

    @Test("HKDF without a salt has the output of RFC 5869, A.3, also where it ends within a block")
    func derivation() {
        let expected = "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"
        let key = [UInt8](repeating: 0x0b, count: 22)
        for count in [0, 1, 31, 32, 33, 42] {
            var output = [UInt8](repeating: 0, count: count)
            output.withUnsafeMutableBytes { output in
                key.withUnsafeBytes { KeyDerivation.hkdf($0, info: [], into: output) }
            }
            #expect(Hexadecimal.text(output) == expected.prefix(2 * count))
        }
    }
}
