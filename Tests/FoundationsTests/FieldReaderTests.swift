// SPDX-License-Identifier: Apache-2.0

import LinuxSystem
import Testing

@Suite("Big-endian fields")
struct FieldReaderTests {
    @Test("Numbers of every width are read as they are written")
    func numbers() {
        var bytes = UInt8(0xF1).bigEndianBytes + UInt16(0xF1F2).bigEndianBytes
        bytes.append(bigEndian: UInt32(0xF1F2_F3F4))
        bytes.append(bigEndian: UInt64(0xF1F2_F3F4_F5F6_F7F8))
        bytes.append(bigEndian: Int64(-2))
        #expect(bytes.prefix(7) == [0xF1, 0xF1, 0xF2, 0xF1, 0xF2, 0xF3, 0xF4])
        var reader = FieldReader(bytes)
        #expect(reader.number() == UInt8(0xF1) && reader.number() == UInt16(0xF1F2))
        #expect(reader.number() == UInt32(0xF1F2_F3F4) && reader.number() == UInt64(0xF1F2_F3F4_F5F6_F7F8))
        #expect(reader.number() == Int64(-2))
        #expect(reader.isAtEnd && reader.remaining == 0)
    }

    @Test("A field that is not complete is nil, and the reader stays before it")
    func incomplete() {
        var reader = FieldReader([1, 2, 3] as [UInt8])
        #expect(reader.number(UInt32.self) == nil && reader.bytes(4) == nil && reader.bytes(-1) == nil)
        #expect(reader.number(width: 4) == nil && reader.array(.max) == nil)
        #expect(reader.remaining == 3 && reader.rest == [1, 2, 3])
        #expect(reader.number(width: 3) == 0x010203 && reader.isAtEnd)
        #expect(reader.number(UInt8.self) == nil && reader.bytes(0) == [])
    }

    @Test("A number of any width is read if it fits into 64 bits")
    func widths() {
        var reader = FieldReader([UInt8](repeating: 0, count: 9) + [1] + [UInt8](repeating: 0xFF, count: 9))
        #expect(reader.number(width: 10) == 1)
        #expect(reader.number(width: 9) == nil)
        #expect(reader.number(width: 0) == 0)
    }

    @Test("A part of an array is read from its own beginning")
    func slices() {
        var reader = FieldReader(([9, 9, 0, 1, 2] as [UInt8])[2...])
        #expect(reader.number() == UInt16(1) && reader.array(1) == [2] && reader.isAtEnd)
    }

    @Test("Borrowed bytes are read where they are")
    func memory() {
        let bytes: [UInt8] = [0, 2, 7, 8, 9]
        bytes.withUnsafeBytes { bytes in
            var reader = FieldReader(bytes)
            let count: UInt16? = reader.number()
            let field = reader.memory(Int(count ?? 0))
            #expect(field?.baseAddress == bytes.baseAddress.map { $0 + 2 } && field?.elementsEqual([7, 8]) == true)
            #expect(reader.memory(2) == nil && reader.remaining == 1)
        }
    }

    @Test("Bytes are the number that fits, and none that does not")
    func conversion() {
        #expect(UInt16(bigEndianBytes: [1, 2]) == 0x0102 && UInt16(bigEndianBytes: [0, 0, 1, 2]) == 0x0102)
        #expect(UInt16(bigEndianBytes: [1, 0, 0]) == nil && UInt16(bigEndianBytes: []) == 0)
        let largest = [UInt8](repeating: 0xFF, count: 8)
        #expect(UInt64(bigEndianBytes: largest) == .max && UInt64(bigEndianBytes: [0] + largest) == .max)
        #expect(UInt64(bigEndianBytes: [1] + largest) == nil && Int(bigEndianBytes: largest) == nil)
        #expect(Int(bigEndianBytes: [0x7F] + largest.dropLast()) == .max)
    }
}
