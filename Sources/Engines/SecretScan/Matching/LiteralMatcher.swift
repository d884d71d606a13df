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

    /// A literal that may begin at a window: its first bytes are compared at once.
    private struct Candidate {
        let literal: Int
        /// The first bytes, with ``fold`` set.
        let head: UInt32
        /// The bits that tell a small letter from a capital one, where both match.
        let fold: UInt32
    }

    private let literals: [Literal]
    /// For each pair of bytes: how far the window moves. 0: a literal may begin at the window.
    private let shifts: [UInt8]
    /// The candidates with each pair at the end of the window: those from `starts[pair]` to `starts[pair + 1]`.
    private let starts: [UInt32]
    private let candidates: [Candidate]
    /// A bit for each hash of a window at which a literal begins: most windows end here.
    private let heads: [UInt64]

    /// - Parameter literals: each of at least ``windowLength`` bytes.
    init(_ literals: [Literal]) {
        precondition(literals.allSatisfy { $0.bytes.count >= Self.windowLength }, "a literal is too short")
        let longest = Self.windowLength - 1
        var shifts = [UInt8](repeating: UInt8(longest), count: 1 << 16)
        var buckets: [Int: [Int]] = [:]
        for (index, literal) in literals.enumerated() {
            for end in 1..<Self.windowLength {
                for pair in Self.pairs(literal, endingAt: end) {
                    shifts[pair] = min(shifts[pair], UInt8(longest - end))
                    if end == longest { buckets[pair, default: []].append(index) }
                }
            }
        }
        var (starts, candidates): ([UInt32], [Candidate]) = ([], [])
        for pair in 0..<1 << 16 {
            starts.append(UInt32(candidates.count))
            candidates += (buckets[pair] ?? []).map { Self.candidate($0, literals[$0]) }
        }
        starts.append(UInt32(candidates.count))
        (self.literals, self.shifts, self.starts, self.candidates) = (literals, shifts, starts, candidates)
        heads = candidates.reduce(into: [UInt64](repeating: 0, count: 1 << 10)) { heads, candidate in
            let hash = Self.hash(candidate.head)
            heads[hash >> 6] |= 1 << UInt64(hash & 63)
        }
    }

    /// Sixteen bits, the same for small and capital letters.
    private static func hash(_ head: UInt32) -> Int { Int(((head | 0x2020_2020) &* 0x9E37_79B1) >> 16) }

    private static func candidate(_ index: Int, _ literal: Literal) -> Candidate {
        func word(_ byte: (Int) -> UInt8) -> UInt32 {
            (0..<windowLength).reduce(0) { $0 | UInt32(byte($1)) << UInt32(8 * $1) }
        }
        let fold = word { literal.ignoresCase && ByteClass.lowercase.contains(literal.bytes[$0]) ? 0x20 : 0 }
        return Candidate(literal: index, head: word { literal.bytes[$0] }, fold: fold)
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
                        report(pair, endingAt: end, bytes, body)
                        end += 1
                    } else {
                        end += Int(shift)
                    }
                }
            }
        }
    }

    private func report(
        _ pair: Int, endingAt end: Int, _ bytes: UnsafeBufferPointer<UInt8>, _ body: (Int, Int) -> Void
    ) {
        let head =
            UInt32(bytes[end - 3]) | UInt32(bytes[end - 2]) << 8 | UInt32(bytes[end - 1]) << 16 | UInt32(bytes[end])
            << 24
        let hash = Self.hash(head)
        guard heads[hash >> 6] >> UInt64(hash & 63) & 1 == 1 else { return }
        starts.withUnsafeBufferPointer { starts in
            candidates.withUnsafeBufferPointer { candidates in
                for index in starts[pair]..<starts[pair + 1] {
                    let candidate = candidates[Int(index)]
                    guard head | candidate.fold == candidate.head else { continue }
                    if isRest(of: literals[candidate.literal], bytes, end + 1) {
                        body(candidate.literal, end - Self.windowLength + 1)
                    }
                }
            }
        }
    }

    /// Whether the bytes from a position on are those of a literal behind its head.
    private func isRest(of literal: Literal, _ bytes: UnsafeBufferPointer<UInt8>, _ position: Int) -> Bool {
        guard literal.bytes.count - Self.windowLength <= bytes.count - position else { return false }
        return literal.bytes.dropFirst(Self.windowLength).enumerated().allSatisfy { offset, expected in
            let byte = bytes[position + offset]
            return (literal.ignoresCase ? byte.lowercased : byte) == expected
        }
    }
}
