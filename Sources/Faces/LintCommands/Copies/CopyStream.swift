// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem
internal import SecretMemory
internal import SecretScan

/// The texts of a scan as one stream, in pieces for the service, and the place of each position of the stream.
///
/// Random bytes separate two texts, so that no copy is found across them.
struct CopyStream {
    /// A piece of the stream, with the texts in it.
    private struct Piece {
        let start: UInt64
        var bytes: [UInt8] = []
        var texts: [(offset: Int, place: ScanPlace)] = []

        /// The position of the next byte.
        var end: UInt64 { start + UInt64(bytes.count) }
    }

    static let pieceLength = StoredFilePart.maxLength
    /// A copy begins in the piece that completes it, or in the one before.
    private static let keptPieces = 3
    private static let separatorLength = 16

    private var pieces = [Piece(start: 0)]
    private let separator: [UInt8]

    init() { separator = SecretBytes.random(count: Self.separatorLength).withUnsafeBytes { Array($0) } }

    /// The maximum number of bytes that are appended at once.
    static let maxPartLength = pieceLength - separatorLength

    /// Appends the next bytes, at most ``maxPartLength``.
    ///
    /// - Parameter continues: whether they follow the bytes before in the same text.
    /// - Returns: a piece that is full now.
    mutating func append(_ bytes: ArraySlice<UInt8>, at place: ScanPlace, continues: Bool) -> SharedSecret? {
        let first = continues ? nil : append(separator[...], at: nil)
        // Both together fill one piece at most.
        return append(bytes, at: place) ?? first
    }

    /// The last piece, which may be short.
    func last() -> SharedSecret { SharedSecret(copying: pieces.last?.bytes ?? []) }

    private mutating func append(_ bytes: ArraySlice<UInt8>, at place: ScanPlace?) -> SharedSecret? {
        var (rest, place, full) = (bytes, place, SharedSecret?.none)
        while !rest.isEmpty {
            let index = pieces.count - 1
            let part = rest.prefix(Self.pieceLength - pieces[index].bytes.count)
            if let current = place {
                pieces[index].texts.append((pieces[index].bytes.count, current))
                place = current.advanced(over: part)
            }
            pieces[index].bytes += part
            rest = rest.dropFirst(part.count)
            guard pieces[index].bytes.count == Self.pieceLength else { continue }
            full = SharedSecret(copying: pieces[index].bytes)
            pieces.append(Piece(start: pieces[index].end))
            while pieces.count > Self.keptPieces {
                pieces[0].bytes.withUnsafeMutableBytes { SecretBytes.wipe($0) }
                pieces.removeFirst()
            }
        }
        return full
    }

    /// The place of a position in the last pieces.
    func place(of position: UInt64) -> ScanPlace? {
        guard let piece = pieces.last(where: { $0.start <= position }), position < piece.end else { return nil }
        let offset = Int(position - piece.start)
        guard let text = piece.texts.last(where: { $0.offset <= offset }) else { return nil }
        return text.place.advanced(over: piece.bytes[text.offset..<offset])
    }
}
