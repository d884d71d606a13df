// SPDX-License-Identifier: Apache-2.0

/// Finds all occurrences of many literals in one pass (Wu and Manber, "A fast algorithm for multi-pattern searching").
///
/// It looks at the last two bytes of a window. From them a table tells how far the window can move without missing a
/// literal.
struct LiteralMatcher: Sendable {
    struct Literal: Sendable {
        let bytes: [UInt8]
        /// Whether letters match in any case. `bytes` must be lowercase then.
        let ignoresCase: Bool
    }

    /// The minimum length of a literal, and the length of the window.
    static let windowLength = 4

    private let literals: [Literal]
    /// For each pair of bytes: how far the window moves. 0: a literal may begin at the window.
    private let shifts: [UInt8]
    /// The literals with each pair at the end of the window: those from `starts[pair]` to `starts[pair + 1]`.
    private let starts: [UInt32]
    private let candidates: [UInt32]

    /// - Parameter literals: each of at least ``windowLength`` bytes.
    init(_ literals: [Literal]) {
        precondition(literals.allSatisfy { $0.bytes.count >= Self.windowLength }, "a literal is too short")
        let longest = Self.windowLength - 1
        var shifts = [UInt8](repeating: UInt8(longest), count: 1 << 16)
        var buckets: [Int: [UInt32]] = [:]
        for (index, literal) in literals.enumerated() {
            for end in 1..<Self.windowLength {
                for pair in Self.pairs(literal, endingAt: end) {
                    shifts[pair] = min(shifts[pair], UInt8(longest - end))
                    if end == longest { buckets[pair, default: []].append(UInt32(index)) }
                }
            }
        }
        var (starts, candidates): ([UInt32], [UInt32]) = ([], [])
        for pair in 0..<1 << 16 {
            starts.append(UInt32(candidates.count))
            candidates += buckets[pair] ?? []
        }
        starts.append(UInt32(candidates.count))
        (self.literals, self.shifts, self.starts, self.candidates) = (literals, shifts, starts, candidates)
    }

    /// The values of the two bytes that end at an index, in each case that matches.
    private static func pairs(_ literal: Literal, endingAt end: Int) -> Set<Int> {
        func forms(_ byte: UInt8) -> [UInt8] {
            literal.ignoresCase && 0x61...0x7A ~= byte ? [byte, byte & 0xDF] : [byte]
        }
        var pairs: Set<Int> = []
        for first in forms(literal.bytes[end - 1]) {
            for second in forms(literal.bytes[end]) { pairs.insert(Int(first) << 8 | Int(second)) }
        }
        return pairs
    }

    /// Calls `body` with each occurrence: the index of its literal, and its position.
    func forEachMatch(in text: ScannedText, _ body: (_ literal: Int, _ position: Int) -> Void) {
        text.bytes.withUnsafeBufferPointer { bytes in
            shifts.withUnsafeBufferPointer { shifts in
                var end = Self.windowLength - 1
                while end < bytes.count {
                    let pair = Int(bytes[end - 1]) << 8 | Int(bytes[end])
                    let shift = shifts[pair]
                    if shift == 0 {
                        report(pair, at: end - Self.windowLength + 1, bytes, body)
                        end += 1
                    } else {
                        end += Int(shift)
                    }
                }
            }
        }
    }

    private func report(
        _ pair: Int, at position: Int, _ bytes: UnsafeBufferPointer<UInt8>, _ body: (Int, Int) -> Void
    ) {
        for index in starts[pair]..<starts[pair + 1] {
            let number = Int(candidates[Int(index)])
            let literal = literals[number]
            guard position + literal.bytes.count <= bytes.count else { continue }
            var (offset, isEqual) = (0, true)
            while isEqual, offset < literal.bytes.count {
                let byte = bytes[position + offset]
                isEqual = (literal.ignoresCase ? byte.lowercased : byte) == literal.bytes[offset]
                offset += 1
            }
            if isEqual { body(number, position) }
        }
    }
}
