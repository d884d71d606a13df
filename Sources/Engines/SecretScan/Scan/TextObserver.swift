// SPDX-License-Identifier: Apache-2.0

/// Receives every text of a scan, for a search of one's own: the files, the documents in them, and what their encodings
/// hide. With one, also short runs and bytes that are no text are decoded.
public struct TextObserver {
    /// A text, or the next bytes of one.
    public struct Text {
        public let bytes: ArraySlice<UInt8>
        /// Of the first byte.
        public let place: ScanPlace
        /// Whether the bytes follow those of the call before, in the same text.
        public let continues: Bool
    }

    /// The encoding in the places of a database's own bytes.
    public static let rawBytes = "bytes"

    let take: (Text) -> Void

    public init(_ take: @escaping (Text) -> Void) { self.take = take }
}
