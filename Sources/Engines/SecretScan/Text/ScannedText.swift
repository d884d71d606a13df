// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Bytes that are scanned as text. Every position is valid: there are zeros before the first byte and behind the last,
/// and ranges end with the text.
struct ScannedText: Sendable {
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var count: Int { bytes.count }

    subscript(at position: Int) -> UInt8 { bytes.indices.contains(position) ? bytes[position] : 0 }

    func part(_ range: Range<Int>) -> ArraySlice<UInt8> { bytes[range.clamped(to: 0..<bytes.count)] }

    func string(_ range: Range<Int>) -> String { String(decoding: part(range), as: UTF8.self) }

    // MARK: Runs

    /// Returns the end of the run of members that begins at `start`.
    ///
    /// - Parameter limit: the maximum length of the run.
    func end(of members: ByteClass, from start: Int, limit: Int = .max) -> Int {
        bytes.withUnsafeBufferPointer { bytes in
            guard start >= 0 else { return start }
            let last = limit < bytes.count - start ? start + limit : bytes.count
            var end = start
            while end < last, members.contains(bytes[end]) { end += 1 }
            return end
        }
    }

    /// Returns the start of the run of members that ends at `end`.
    func start(of members: ByteClass, to end: Int, limit: Int) -> Int {
        bytes.withUnsafeBufferPointer { bytes in
            var start = min(end, bytes.count)
            let first = max(0, start - limit)
            while start > first, members.contains(bytes[start - 1]) { start -= 1 }
            return start
        }
    }

    /// Returns the position of the first member from `start` on; `end` if there is none before it.
    func first(of members: ByteClass, from start: Int, before end: Int) -> Int {
        bytes.withUnsafeBufferPointer { bytes in
            let end = min(end, bytes.count)
            var position = max(start, 0)
            while position < end, !members.contains(bytes[position]) { position += 1 }
            return position
        }
    }

    /// Returns the position of the first occurrence of `text` from `start` on and before `end`.
    func first(_ text: StaticString, from start: Int, before end: Int) -> Int? {
        let end = min(end, count) - text.utf8CodeUnitCount + 1
        var position = start
        while let found = first(text.utf8Start.pointee, from: position, before: end) {
            if has(text, at: found) { return found }
            position = found + 1
        }
        return nil
    }

    /// Returns the position of the first `byte` from `start` on and before `end`.
    func first(_ byte: UInt8, from start: Int, before end: Int) -> Int? {
        bytes.withUnsafeBytes { bytes in
            let range = Range(uncheckedBounds: (max(0, start), max(start, end, 0))).clamped(to: bytes.indices)
            guard let first = bytes.baseAddress, let found = memchr(first + range.lowerBound, Int32(byte), range.count)
            else { return nil }
            return UnsafeRawPointer(found) - first
        }
    }

    // MARK: Texts

    func has(_ text: StaticString, at position: Int) -> Bool {
        text.withUTF8Buffer { expected in
            position >= 0 && position <= count - expected.count
                && part(position..<position + expected.count).elementsEqual(expected)
        }
    }

    /// Whether a lowercase text is at the position, in any case.
    func hasAnyCase(_ text: StaticString, at position: Int) -> Bool {
        text.withUTF8Buffer { expected in
            guard position >= 0, position <= count - expected.count else { return false }
            return part(position..<position + expected.count).elementsEqual(expected) { $0.lowercased == $1 }
        }
    }

    // MARK: Lines

    /// The number of line ends in a range, and the position behind the last one; the start of the range if there is none.
    func lineEnds(in range: Range<Int>) -> (count: Int, last: Int) {
        var (count, last) = (0, range.lowerBound)
        while let end = first(0x0A, from: last, before: range.upperBound) { (count, last) = (count + 1, end + 1) }
        return (count, last)
    }

    /// The line around a position, without its end.
    func line(around position: Int, limit: Int = 4096) -> Range<Int> {
        start(of: .notLineEnd, to: position, limit: limit)..<end(of: .notLineEnd, from: position, limit: limit)
    }
}

extension UInt8 {
    /// In lower case, if it is a letter of ASCII.
    var lowercased: UInt8 { 0x41...0x5A ~= self ? self | 0x20 : self }
}
