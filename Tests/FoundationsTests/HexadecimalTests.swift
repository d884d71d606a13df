// SPDX-License-Identifier: Apache-2.0

import Foundation
import LinuxSystem
import SecretMemory
import Testing

@Suite("Hexadecimal digits")
struct HexadecimalTests {
    private static let all = (UInt8.min...UInt8.max).map { $0 }

    @Test("Every byte is written as two digits and read again")
    func everyByte() {
        for byte in Self.all {
            #expect(Hexadecimal.text(byte) == String(format: "%02x", byte))
            #expect(Hexadecimal.text(byte, isUppercase: true) == String(format: "%02X", byte))
        }
        let text = Hexadecimal.text(Self.all)
        #expect(text.utf8.count == 512)
        #expect(Hexadecimal.bytes(text.utf8) == Self.all)
        #expect(Hexadecimal.bytes(text.uppercased().utf8, letters: .any) == Self.all)
        #expect(Hexadecimal.text([]) == "" && Hexadecimal.bytes("".utf8) == [])
    }

    @Test(
        "Anything but pairs of digits is refused",
        arguments: [
            "0", "000", "0g", "g0", "0x00", " 00", "00 ", "00\n", "0\u{660}", "+1", "-1", "0/", "0:", "0@", "0`",
        ])
    func refused(_ text: String) {
        #expect(Hexadecimal.bytes(text.utf8, letters: .any) == nil)
        #expect(Self.secret(text) == nil)
    }

    @Test("Upper-case digits are read only where they are asked for")
    func letters() {
        #expect(Hexadecimal.bytes("aF".utf8) == nil && Hexadecimal.bytes("Fa".utf8) == nil)
        #expect(Hexadecimal.bytes("aF".utf8, letters: .any) == [0xAF])
        #expect(Hexadecimal.value(of: UInt8(ascii: "F")) == nil)
    }

    @Test("Secrets are read and written in the memory of the caller")
    func secrets() {
        #expect(Self.secret("00fFA9") == SharedSecret(copying: [0, 0xFF, 0xA9]))
        #expect(Self.secret("") == SharedSecret(copying: []))
        let digits = SecretBytes(count: 5) { line in
            ([0x0A, 0xF1] as [UInt8]).withUnsafeBytes { Hexadecimal.write($0, to: line) }
            line[4] = UInt8(ascii: "!")
        }
        #expect(digits.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } == "0af1!")
    }

    @Test("Memory of another size than the bytes is refused")
    func size() {
        for count in [0, 1, 3] {
            var bytes = [UInt8](repeating: 7, count: count)
            let isRead = bytes.withUnsafeMutableBytes { memory in
                "0001".utf8.withContiguousStorageIfAvailable {
                    Hexadecimal.read(UnsafeRawBufferPointer($0), to: memory)
                }
            }
            #expect(isRead == false && bytes.allSatisfy { $0 == 7 })
        }
    }

    private static func secret(_ text: String) -> SharedSecret? {
        Array(text.utf8).withUnsafeBytes { SharedSecret.ofHexadecimal($0) }
    }
}
