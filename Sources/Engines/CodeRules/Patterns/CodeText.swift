// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Code whose lines are searched for texts.
struct CodeText {
    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The whole text.
    var all: Range<Int> { bytes.indices }

    func has(_ text: StaticString, in range: Range<Int>) -> Bool {
        bytes.withUnsafeBytes { bytes in
            let range = range.clamped(to: bytes.indices)
            // The positions at which the text can begin.
            let end = range.upperBound - text.utf8CodeUnitCount + 1
            var position = range.lowerBound
            guard let start = bytes.baseAddress else { return false }
            while position < end, let found = memchr(start + position, Int32(text.utf8Start.pointee), end - position) {
                if memcmp(found, text.utf8Start, text.utf8CodeUnitCount) == 0 { return true }
                position = UnsafeRawPointer(found) - start + 1
            }
            return false
        }
    }

    func begins(with text: StaticString, in range: Range<Int>) -> Bool {
        has(text, in: range.lowerBound..<min(range.upperBound, range.lowerBound + text.utf8CodeUnitCount))
    }

    func count(of byte: UInt8, in range: Range<Int>) -> Int {
        bytes.withUnsafeBufferPointer { bytes in
            range.clamped(to: bytes.indices).reduce(0) { $0 &+ (bytes[$1] == byte ? 1 : 0) }
        }
    }

    /// The part as text. Bytes that are not UTF-8 are replaced.
    func text(_ range: Range<Int>) -> Substring {
        Substring(String(decoding: bytes[range.clamped(to: bytes.indices)], as: UTF8.self))
    }

    /// Calls `body` with the number of each line, from 1, and its range without the blanks at its beginning.
    func forEachLine(_ body: (_ number: Int, _ line: Range<Int>, _ column: Int) -> Void) {
        var (number, start) = (1, 0)
        while start <= bytes.count {
            let end = bytes[start...].firstIndex(of: 0x0A) ?? bytes.count
            let code = bytes[start..<end].firstIndex { $0 != 0x20 && $0 != 0x09 } ?? end
            body(number, code..<end, code - start + 1)
            (number, start) = (number + 1, end + 1)
        }
    }
}
