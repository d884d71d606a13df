// SPDX-License-Identifier: Apache-2.0

import Crypto
import OpenSSLCrypto
import SecretMemory
import Testing

@Suite("AES key wrap")
struct AESKeyWrapTests {
    private func unwrap(_ wrapped: [UInt8], _ wrapping: [UInt8]) -> [UInt8]? {
        let key = wrapped.withUnsafeBytes { wrapped in
            wrapping.withUnsafeBytes { AESKeyWrap.unwrap(wrapped, under: $0) }
        }
        return key?.withUnsafeBytes { Array($0) }
    }

    @Test("The vector of RFC 3394, section 4.6")
    func vector() {
        let wrapped: [UInt8] = [
            0x28, 0xC9, 0xF4, 0x04, 0xC4, 0xB8, 0x10, 0xF4, 0xCB, 0xCC, 0xB3, 0x5C, 0xFB, 0x87, 0xF8, 0x26,
            0x3F, 0x57, 0x86, 0xE2, 0xD8, 0x0E, 0xD3, 0x26, 0xCB, 0xC7, 0xF0, 0xE7, 0x1A, 0x99, 0xF4, 0x3B,
            0xFB, 0x98, 0x8B, 0x9B, 0x7A, 0x02, 0xDD, 0x21,
        ]
        let key = (0...15).map { UInt8($0 * 0x11) } + Array(0...15)
        #expect(unwrap(wrapped, Array(0...31)) == key)
    }

    @Test("A key wrapped by swift-crypto is unwrapped, and a change of any bit is detected", arguments: [16, 24, 32])
    func foreign(_ count: Int) throws {
        let (key, wrapping) = (SymmetricKey(size: .init(bitCount: count * 8)), SymmetricKey(size: .bits256))
        let wrapped = Array(try AES.KeyWrap.wrap(key, using: wrapping))
        let bytes = wrapping.withUnsafeBytes { Array($0) }
        #expect(unwrap(wrapped, bytes) == key.withUnsafeBytes { Array($0) })
        for bit in 0..<wrapped.count * 8 {
            var changed = wrapped
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(unwrap(changed, bytes) == nil)
        }
    }

    @Test("swift-crypto unwraps a wrapped key, under keys of each size, and so does unwrap", arguments: [16, 24, 32])
    func own(_ count: Int) throws {
        let (key, wrapping) = (SymmetricKey(size: .bits256), SymmetricKey(size: .init(bitCount: count * 8)))
        let wrapped = try #require(
            key.withUnsafeBytes { key in wrapping.withUnsafeBytes { AESKeyWrap.wrap(key, under: $0) } })
        #expect(try AES.KeyWrap.unwrap(wrapped, using: wrapping) == key)
        #expect(unwrap(wrapped, wrapping.withUnsafeBytes { Array($0) }) == key.withUnsafeBytes { Array($0) })
    }

    @Test("Keys that cannot be wrapped are refused", arguments: [0, 8, 15, 17, 33])
    func unwrappable(_ count: Int) {
        let (key, wrapping) = ([UInt8](repeating: 1, count: count), [UInt8](repeating: 2, count: 32))
        #expect(key.withUnsafeBytes { key in wrapping.withUnsafeBytes { AESKeyWrap.wrap(key, under: $0) } } == nil)
        #expect(
            wrapping.withUnsafeBytes { key in
                [UInt8](repeating: 1, count: count).withUnsafeBytes { AESKeyWrap.wrap(key, under: $0) }
            } == nil)
    }

    @Test("Keys and wrapped keys of another length are refused", arguments: [0, 8, 16, 23, 25, 39, 41])
    func lengths(_ count: Int) {
        #expect(unwrap([UInt8](repeating: 1, count: count), Array(0...31)) == nil)
        #expect(unwrap([UInt8](repeating: 1, count: 40), [UInt8](repeating: 1, count: count)) == nil)
    }
}
