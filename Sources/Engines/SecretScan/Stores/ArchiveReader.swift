// SPDX-License-Identifier: Apache-2.0

/// A file in an archive.
struct ArchiveEntry {
    let name: String
    let content: [UInt8]
}

/// Reads the files of an archive one after another. Archives are untrusted.
protocol ArchiveReader {
    /// Returns the next file; nil behind the last one. Directories and links are left out.
    ///
    /// - Parameter limit: the maximum number of bytes of its content.
    mutating func next(limit: Int) throws(ArchiveError) -> ArchiveEntry?
}

/// Why a file of an archive, or the rest of the archive, could not be read.
struct ArchiveError: Error {
    let reason: String
    /// Whether the next file can be read.
    let isRecoverable: Bool
}
