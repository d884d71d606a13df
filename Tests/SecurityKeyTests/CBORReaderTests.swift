// SPDX-License-Identifier: Apache-2.0

@testable import SecurityKeyTesting
import Testing

@testable import SecurityKey

@Suite("CBOR of a security key")
struct CBORReaderTests {
    /// Whether a value is at the beginning of the bytes, and the number that follows it.
    private static func skip(_ bytes: [UInt8]) -> (isSkipped: Bool, next: Int?) {
        var reader = CBORReader(bytes[...])
        let isSkipped = reader.skip()
        return (isSkipped, reader.head()?.number)
    }

    @Test("Every value is skipped with its content, and nothing more")
    func skips() {
        let value = CBOR.map([
            1: .array([.integer(-500), .text("text"), .bool(true)]), 2: .bytes([UInt8](repeating: 7, count: 300)),
            -3: .map(named: ["a": .integer(1 << 40)]),
        ])
        #expect(Self.skip(value.encoded + [0x18, 0x2A]) == (true, 42))
        #expect(Self.skip(value.encoded) == (true, nil))
    }

    @Test("A value that ends early is not skipped")
    func truncated() {
        let bytes = CBOR.map([1: .array([.text("text"), .bytes([1, 2, 3])]), 2: .integer(70000)]).encoded
        for count in bytes.indices { #expect(!Self.skip(Array(bytes.prefix(count))).isSkipped, "\(count)") }
    }

    @Test("Random bytes are skipped or rejected", arguments: 0..<50)
    func random(_ round: Int) {
        for _ in 0..<200 {
            var reader = CBORReader(randomBytes(Int.random(in: 0..<64))[...])
            var count = 0
            while reader.skip() { count += 1 }
            #expect(count < 64)
        }
    }

    @Test(
        "Tags and floating-point numbers are skipped; indefinite and too large lengths are rejected",
        arguments: [
            ([0xC1, 0xFB, 0, 0, 0, 0, 0, 0, 0, 0], true), ([0xF6], true), ([0x5F, 0x41, 0x00, 0xFF], false),
            ([0x9F, 0xFF], false), ([0x1C], false), ([0x5B] + [UInt8](repeating: 0xFF, count: 8), false),
            ([0xBB, 0x7F] + [UInt8](repeating: 0xFF, count: 7), false),
            ([0x9B, 0x7F] + [UInt8](repeating: 0xFF, count: 7), false), ([], false),
        ] as [([UInt8], Bool)])
    func rare(_ bytes: [UInt8], isSkipped: Bool) {
        #expect(Self.skip(bytes).isSkipped == isSkipped)
    }
}
