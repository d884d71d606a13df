// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import Testing

@testable import CryptographicMessages

/// BER that becomes DER, and bytes that are neither.
@Suite("BER")
struct DERConversionTests {
    private static func der(_ bytes: [UInt8]) throws -> [UInt8] {
        try DERConversion.der(of: bytes, limits: .standard)
    }

    @Test(
        "Every form of BER that is accepted has one DER",
        arguments: [
            ([0x30, 0x03, 0x04, 0x01, 0xAA], [0x30, 0x03, 0x04, 0x01, 0xAA]),
            // Indefinite lengths.
            ([0x30, 0x80, 0x04, 0x01, 0xAA, 0, 0], [0x30, 0x03, 0x04, 0x01, 0xAA]),
            ([0x30, 0x80, 0x31, 0x80, 0, 0, 0, 0], [0x30, 0x02, 0x31, 0x00]),
            ([0x30, 0x04, 0x31, 0x80, 0, 0], [0x30, 0x02, 0x31, 0x00]),
            // Long lengths.
            ([0x30, 0x81, 0x03, 0x04, 0x01, 0xAA], [0x30, 0x03, 0x04, 0x01, 0xAA]),
            ([0x30, 0x84, 0, 0, 0, 0x03, 0x04, 0x01, 0xAA], [0x30, 0x03, 0x04, 0x01, 0xAA]),
            // Segments.
            ([0x24, 0x80, 0x04, 0x01, 0xAA, 0x04, 0x00, 0x04, 0x01, 0xBB, 0, 0], [0x04, 0x02, 0xAA, 0xBB]),
            ([0x24, 0x03, 0x04, 0x01, 0xAA], [0x04, 0x01, 0xAA]),
            ([0x24, 0x80, 0x24, 0x80, 0x04, 0x01, 0xAA, 0, 0, 0x04, 0x01, 0xBB, 0, 0], [0x04, 0x02, 0xAA, 0xBB]),
            ([0x24, 0x00], [0x04, 0x00]),
            // The content of a primitive element is not read.
            ([0x04, 0x02, 0x30, 0x80], [0x04, 0x02, 0x30, 0x80]),
        ] as [([UInt8], [UInt8])])
    func forms(_ ber: [UInt8], _ der: [UInt8]) throws {
        #expect(try Self.der(ber) == der)
        #expect(try Self.der(der) == der)
    }

    @Test("A length of 128 bytes and more is written in the fewest bytes")
    func long() throws {
        for count in [127, 128, 255, 256, 65_535, 65_536] {
            let content = [UInt8](repeating: 7, count: count)
            let octets = MessageWriter.octets(content)
            #expect(try Self.der([0x30, 0x80] + octets + [0, 0]) == MessageWriter.sequence(octets))
            #expect(try Self.der([0x24, 0x80] + octets + octets + [0, 0]) == MessageWriter.octets(content + content))
        }
    }

    @Test(
        "Bytes that are not one element are refused",
        arguments: [
            [], [0x30], [0x30, 0x80], [0x30, 0x01], [0x30, 0x80, 0], [0, 0], [0x30, 0x02, 0, 0], [0x04, 0x80, 0, 0],
            [0x30, 0x00, 0x00], [0x30, 0x80, 0, 1], [0x30, 0x03, 0x31, 0x80, 0, 0], [0x1F, 0x81, 0x01, 0x00],
            [0x30, 0x89, 1, 1, 1, 1, 1, 1, 1, 1, 1], [0x30, 0x88, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
            [0x30, 0x84, 0x7F, 0xFF, 0xFF, 0xFF], [0x30, 0xFF], [0x24, 0x80, 0x30, 0x00, 0, 0],
            [0x24, 0x80, 0x31, 0x00, 0, 0], [0x24, 0x80, 0x02, 0x01, 0x00, 0, 0], [0x23, 0x80, 0x03, 0x01, 0x00, 0, 0],
            [0x2C, 0x03, 0x0C, 0x01, 0x61], [0x30, 0x03, 0x04, 0x02, 0xAA],
        ] as [[UInt8]])
    func refused(_ bytes: [UInt8]) {
        let error = #expect(throws: KeychainError.self) { try Self.der(bytes) }
        #expect(error?.status == .unknownFormat)
    }

    @Test("64 levels are read, in definite and in indefinite lengths, and 65 are refused")
    func depth() throws {
        func nested(_ count: Int) -> [UInt8] {
            Array(repeating: [0x30, 0x80], count: count).flatMap { $0 } + [UInt8](repeating: 0, count: 2 * count)
        }
        let der = try Self.der(nested(64))
        #expect(try Self.der(der) == der)
        for deep in [nested(65), MessageWriter.sequence(der)] {
            let error = #expect(throws: KeychainError.self) { try Self.der(deep) }
            #expect(error?.status == .dataTooLarge)
        }
    }

    @Test("A message beyond the limits of depth, elements and bytes is refused, at once")
    func limits() {
        var small = MessageLimits()
        small.byteCount = 16
        let rows: [([UInt8], MessageLimits)] = [
            ([UInt8](repeating: 0, count: 17), small),
            (Array(repeating: [0x30, 0x80], count: 1_000_000).flatMap { $0 }, .standard),
            (MessageWriter.sequence(Array(repeating: [0x05, 0x00], count: 1_000_000).flatMap { $0 }), .standard),
            ([0x24, 0x80] + Array(repeating: [0x04, 0x00], count: 1_000_000).flatMap { $0 } + [0, 0], .standard),
        ]
        let clock = ContinuousClock()
        for (bytes, limits) in rows {
            let start = clock.now
            let error = #expect(throws: KeychainError.self) { try DERConversion.der(of: bytes, limits: limits) }
            #expect(error?.status == .dataTooLarge)
            #expect(clock.now - start < .seconds(10))
        }
    }
}
