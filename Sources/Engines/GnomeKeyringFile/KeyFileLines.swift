// SPDX-License-Identifier: Apache-2.0

/// The lines of a keyring in the plain format, without their ends. The bytes must outlive it.
struct KeyFileLines {
    private let bytes: UnsafeRawBufferPointer
    private let ranges: [Range<Int>]
    /// For each line, the first line from it on that begins the last two values of an item, as gnome-keyring writes
    /// them; nil for the end of the file, and without such a line.
    private let ends: [Int?]

    init(_ bytes: UnsafeRawBufferPointer) throws(GnomeKeyringError) {
        var ranges: [Range<Int>] = []
        var start = 0
        for (offset, byte) in bytes.enumerated() where byte == UInt8(ascii: "\n") {
            ranges.append(start..<offset)
            start = offset + 1
            guard ranges.count < KeyringLimits.maxLines else {
                throw .tooLarge(count: ranges.count + 1, max: KeyringLimits.maxLines)
            }
        }
        ranges.append(start..<bytes.count)
        self.bytes = bytes
        self.ranges = ranges
        ends = Self.ends(bytes, ranges)
    }

    var indices: Range<Int> { ranges.indices }

    subscript(line: Int) -> UnsafeRawBufferPointer { Self.line(bytes, ranges[line]) }

    /// Returns the text from a position in one line to the end of another one, with the line ends between them.
    func text(from line: Int, skipping count: Int, through last: Int) -> UnsafeRawBufferPointer {
        Self.line(bytes, min(ranges[line].lowerBound + count, ranges[last].upperBound)..<ranges[last].upperBound)
    }

    /// Returns the last line of a secret that begins in `line`.
    ///
    /// gnome-keyring writes a secret as it is, so that its second line looks like another line of the file, and it does
    /// not read such a file itself. The secret ends before the times of its item; they end the item.
    func lastLineOfSecret(from line: Int) -> Int {
        guard line + 1 < ends.count, let end = ends[line + 1] else { return line }
        return end - 1
    }

    private static func line(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[range])
    }

    private static func ends(_ bytes: UnsafeRawBufferPointer, _ ranges: [Range<Int>]) -> [Int?] {
        var ends = [Int?](repeating: nil, count: ranges.count)
        var next: Int?
        for line in ranges.indices.reversed() {
            if endsItem(bytes, ranges.dropFirst(line).prefix(4)) { next = line }
            ends[line] = next
        }
        return ends
    }

    /// Whether lines are the two times of an item, and then nothing, or an empty line and nothing or another group.
    private static func endsItem(_ bytes: UnsafeRawBufferPointer, _ ranges: ArraySlice<Range<Int>>) -> Bool {
        var lines = ranges.makeIterator()
        guard let first = lines.next(), isNumber(line(bytes, first), after: modified), let second = lines.next(),
            isNumber(line(bytes, second), after: created)
        else { return false }
        guard let separator = lines.next() else { return true }
        guard separator.isEmpty else { return false }
        guard let next = lines.next() else { return true }
        return next.isEmpty || KeyFileText.group(line(bytes, next)) != nil
    }

    private static let modified = Array("mtime=".utf8)
    private static let created = Array("ctime=".utf8)

    private static func isNumber(_ line: UnsafeRawBufferPointer, after name: [UInt8]) -> Bool {
        line.starts(with: name) && KeyFileText.number(line.dropFirst(name.count)) != nil
    }
}
