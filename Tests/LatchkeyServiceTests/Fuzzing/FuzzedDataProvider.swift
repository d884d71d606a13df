// SPDX-License-Identifier: Apache-2.0

/// Derives values from bytes, from the first byte on; after the last byte every value is zero. Most
/// values are small or at the limits of their types.
struct FuzzedDataProvider {
    private var bytes: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { self.bytes = bytes[...] }

    var isEmpty: Bool { bytes.isEmpty }

    mutating func byte() -> UInt8 { bytes.popFirst() ?? 0 }

    mutating func flag() -> Bool { byte() & 1 == 1 }

    /// Returns one element of a list that is not empty.
    mutating func one<Value>(of values: [Value]) -> Value { values[Int(byte()) % values.count] }

    /// Returns a value, or nil in one of two cases.
    mutating func optional<Value>(_ value: (inout FuzzedDataProvider) -> Value) -> Value? {
        flag() ? value(&self) : nil
    }

    mutating func number() -> Int64 {
        switch byte() % 8 {
        case 0: 0
        case 1: -1
        case 2: Int64.max
        case 3: Int64.min
        case 4: Int64(Int32.max) + Int64(byte())
        case 5: -Int64(byte())
        default: Int64(byte())
        }
    }

    mutating func date() -> Double {
        switch byte() % 8 {
        case 0: .nan
        case 1: .infinity
        case 2: -.infinity
        case 3: 1e300
        case 4: -1e300
        case 5: .leastNonzeroMagnitude
        default: Double(number())
        }
    }

    mutating func data() -> [UInt8] {
        let choice = byte()
        if choice == 255 { return [UInt8](repeating: 0x41, count: 5000) }
        return (0..<Int(choice % 24)).map { _ in byte() }
    }

    mutating func text() -> String {
        let names = [
            "", "a", "b", "alice", "é", "e\u{301}", "\0", "*", "com.apple.token", "G1", "G2", "latchkey.shared",
            "example.com",
        ]
        return flag() ? one(of: names) : String(decoding: data(), as: UTF8.self)
    }
}
