// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxSystem

/// The user ids that a subordinate id file grants, with lines `owner:start:count` (subuid(5)).
///
/// The owner is ignored: an id in a range is subordinate for every owner. Empty lines and comments
/// grant nothing.
struct SubordinateRanges: Sendable, Equatable {
    /// Sorted; ranges neither overlap nor adjoin.
    private let ranges: [ClosedRange<UInt32>]

    /// - Parameter path: the path for the error.
    /// - Throws: EINVAL if a line cannot be parsed: newuidmap(1) accepts more spellings of a number,
    ///   such as `0x186a0`, so a line that is skipped here could be one that it uses. EFBIG if the
    ///   file has more than `maxLines` lines.
    init(parsing bytes: [UInt8], path: String) throws(SystemError) {
        var found: [ClosedRange<UInt32>] = []
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            guard index < Self.maxLines else {
                throw SystemError("read", path: path, code: EFBIG, hint: "at most \(Self.maxLines) lines are read")
            }
            switch Line(line) {
            case .nothing: continue
            case .range(let range): found.append(range)
            case .unreadable:
                throw SystemError(
                    "parse line \(index + 1) of", path: path, code: EINVAL,
                    hint: "expected OWNER:START:COUNT in decimal digits, without spaces and leading zeros")
            }
        }
        ranges = Self.joined(found)
    }

    func contains(_ user: UInt32) -> Bool { ranges.contains { $0.contains(user) } }

    private static func joined(_ ranges: [ClosedRange<UInt32>]) -> [ClosedRange<UInt32>] {
        var joined: [ClosedRange<UInt32>] = []
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            guard let last = joined.last, range.lowerBound == 0 || range.lowerBound - 1 <= last.upperBound else {
                joined.append(range)
                continue
            }
            _ = joined.popLast()
            joined.append(last.lowerBound...max(last.upperBound, range.upperBound))
        }
        return joined
    }

    private static let maxLines = 100_000
}

/// One line of the file.
private enum Line {
    case range(ClosedRange<UInt32>)
    /// Grants no id.
    case nothing
    case unreadable

    init(_ line: ArraySlice<UInt8>) {
        let spaces: [UInt8] = [UInt8(ascii: " "), UInt8(ascii: "\t")]
        guard let first = line.first(where: { !spaces.contains($0) }), first != UInt8(ascii: "#") else {
            self = .nothing
            return
        }
        let fields = line.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard fields.count == 3, fields.first?.isEmpty == false,
            let start = fields.dropFirst().first.flatMap(Self.number),
            let count = fields.last.flatMap(Self.number)
        else {
            self = .unreadable
            return
        }
        // User ids have 32 bits; a range may exceed them.
        guard count > 0, let lowest = UInt32(exactly: start) else {
            self = .nothing
            return
        }
        let (end, isTooLarge) = start.addingReportingOverflow(count - 1)
        self = .range(lowest...(isTooLarge ? .max : UInt32(clamping: end)))
    }

    /// Parses decimal digits without leading zeros; nil for a number that newuidmap(1) would read in
    /// another base.
    private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
        guard digits.allSatisfy({ (0x30...0x39).contains($0) }), digits.count == 1 || digits.first != UInt8(ascii: "0")
        else { return nil }
        return UInt64(String(decoding: digits, as: UTF8.self))
    }
}
