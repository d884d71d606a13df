// SPDX-License-Identifier: Apache-2.0

/// Recognizes reads or writes that follow each other in a file.
struct SequentialAccess {
    private let step: UInt64
    private let ahead: UInt64
    /// Where the series began, where its next access begins, and how far it was reported.
    private var start: UInt64 = .max
    private var next: UInt64 = .max
    private var reported: UInt64 = 0

    /// - Parameters:
    ///   - step: how many bytes are reported at once.
    ///   - ahead: how far the reported bytes may be beyond the last access; 0 to report accessed bytes.
    init(step: UInt64, ahead: UInt64) { (self.step, self.ahead) = (step, ahead) }

    /// Records an access.
    ///
    /// - Returns: the next part of the file to report; nil if there is none, or no series.
    mutating func continues(at offset: UInt64, count: Int) -> Range<UInt64>? {
        let end = offset &+ UInt64(count)
        let follows = offset == next
        next = end
        guard follows else {
            (start, reported) = (offset, offset)
            return nil
        }
        // A few accesses in order are not a series yet.
        guard end &- start >= step else { return nil }
        let first = ahead > 0 ? max(reported, end) : reported
        let limit = end &+ ahead
        guard limit > first, limit - first >= step else { return nil }
        reported = limit
        return first..<limit
    }
}
