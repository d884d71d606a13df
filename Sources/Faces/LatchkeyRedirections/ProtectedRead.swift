// SPDX-License-Identifier: Apache-2.0

internal import FileProtection
internal import Foundation
internal import Latchkey
internal import LinuxSystem

/// A call of Foundation that reads a file, which may be a protected one.
struct ProtectedRead {
    private enum Place {
        case url(URL)
        case path(String)
    }

    private let place: Place

    init(_ url: URL) { place = .url(url) }
    init(path: String) { place = .path(path) }

    private var path: FilePath? {
        switch place {
        case .path(let path): FilePath(path)
        case .url(let url) where url.isFileURL:
            url.withUnsafeFileSystemRepresentation { $0.map { FilePath(cString: $0) } }
        case .url: nil
        }
    }

    var isProtected: Bool { path.map { ProtectedFileMark.isPresent(at: $0) } ?? false }

    /// Returns the content of a protected file; nil if the file is a plain one, or missing.
    ///
    /// - Throws: `CocoaError` with the code `fileReadNoPermission` while the class is closed.
    func contents() throws -> Data? {
        guard let path, ProtectedFileMark.isPresent(at: path) else { return nil }
        guard let text = path.text else {
            throw CocoaError(.fileReadInvalidFileName, userInfo: [NSFilePathErrorKey: path.description])
        }
        return try asCocoaErrors(text, writing: false) { () throws(KeychainError) in
            try ProtectedFile.contents(of: text)
        }
    }

    // MARK: Texts

    /// Returns the text in the file.
    ///
    /// - Parameter plain: Foundation's own call.
    func text(_ encoding: String.Encoding, plain: () throws -> String) throws -> String {
        var encoding = encoding
        return try text(&encoding, isKnown: true) { _ in try plain() }
    }

    /// Returns the text in the file, in the encoding of its byte order mark, or in UTF-8.
    ///
    /// - Parameter plain: Foundation's own call.
    func text(_ encoding: inout String.Encoding, plain: (inout String.Encoding) throws -> String) throws -> String {
        try text(&encoding, isKnown: false, plain: plain)
    }

    private func text(
        _ encoding: inout String.Encoding, isKnown: Bool, plain: (inout String.Encoding) throws -> String
    ) throws -> String {
        if case .url(let url) = place, let loaded = try RedirectedLoad.data(of: url) {
            return try decode(loaded, &encoding, isKnown)
        }
        let text: String
        do { text = try plain(&encoding) } catch {
            // The bytes of a protected file are no text.
            guard let contents = try contents() else { throw error }
            return try decode(contents, &encoding, isKnown)
        }
        guard text.mayHaveProtectionMark(in: encoding), let contents = try contents() else { return text }
        return try decode(contents, &encoding, isKnown)
    }

    private func decode(_ data: Data, _ encoding: inout String.Encoding, _ isKnown: Bool) throws -> String {
        if !isKnown { encoding = Self.marks.first { data.starts(with: $0.bytes) }?.encoding ?? .utf8 }
        guard let text = String(data: data, encoding: encoding) else {
            throw CocoaError(
                isKnown ? .fileReadInapplicableStringEncoding : .fileReadUnknownStringEncoding,
                userInfo: [NSFilePathErrorKey: path?.description ?? ""])
        }
        return text
    }

    /// The byte order marks, the longest first.
    private static let marks: [(bytes: [UInt8], encoding: String.Encoding)] = [
        ([0xFF, 0xFE, 0, 0], .utf32), ([0, 0, 0xFE, 0xFF], .utf32), ([0xEF, 0xBB, 0xBF], .utf8),
        ([0xFF, 0xFE], .utf16), ([0xFE, 0xFF], .utf16),
    ]
}

extension Data {
    /// Whether these are the bytes of a protected file.
    var hasProtectionMark: Bool { withUnsafeBytes { ProtectedFileMark.begins($0) } }
}

extension String {
    /// Whether this can be the bytes of a protected file as a text of the encoding. Where the encoding does not map ASCII
    /// to itself, every text can.
    fileprivate func mayHaveProtectionMark(in encoding: Encoding) -> Bool {
        switch encoding {
        case .utf8, .ascii, .isoLatin1, .isoLatin2, .windowsCP1252, .macOSRoman, .nonLossyASCII:
            utf8.withContiguousStorageIfAvailable { ProtectedFileMark.begins(UnsafeRawBufferPointer($0)) } ?? true
        default: true
        }
    }
}
