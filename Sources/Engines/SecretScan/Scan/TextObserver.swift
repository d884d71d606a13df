// SPDX-License-Identifier: Apache-2.0

/// Receives every text of a scan, for a search of one's own: the files, the documents in them, and what their encodings
/// hide. With one, also short runs and bytes that are no text are decoded.
///
/// A long file comes in parts. Each begins with the last 128 KiB of the one before.
public struct TextObserver {
    /// The encoding in the places of a database's own bytes.
    public static let rawBytes = "bytes"

    let take: (_ text: ArraySlice<UInt8>, _ place: ScanPlace) -> Void

    /// - Parameter take: called with a text and the place of its first byte.
    public init(_ take: @escaping (_ text: ArraySlice<UInt8>, _ place: ScanPlace) -> Void) { self.take = take }
}
