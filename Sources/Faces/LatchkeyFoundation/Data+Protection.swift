// SPDX-License-Identifier: Apache-2.0

public import Foundation
internal import Latchkey

extension Data {
    /// Writes a file, as Foundation does; with an option such as `.completeFileProtection`, a protected
    /// one.
    ///
    /// Without such an option, a protected file keeps its class, and a new file gets the class of the
    /// nearest `.latchkey-protect`; otherwise it is a plain one. Protected files are always written as a
    /// whole (`.atomic`), and are durable when this returns.
    ///
    /// - Throws: `CocoaError` with the code `fileWriteNoPermission` while the class is closed.
    public func write(to url: URL, options: Data.WritingOptions = []) throws {
        let protection = try FileProtectionChoice.of(options)
        let path = try ProtectedPath.path(of: url, orElse: .fileWriteInvalidFileName)
        guard url.isFileURL, try protection != nil || ProtectedPath.isProtected(path) else {
            return try PlainFile.write(self, to: url, options: options)
        }
        try asCocoaErrors(path, writing: true) { () throws(KeychainError) in
            try ProtectedFile.write(
                self, to: path, protection: protection, replacing: !options.contains(.withoutOverwriting))
        }
    }

    /// Reads a file, as Foundation does, also a protected one.
    ///
    /// - Throws: `CocoaError` with the code `fileReadNoPermission` while the class is closed.
    public init(contentsOf url: __shared URL, options: Data.ReadingOptions = []) throws {
        let path = try ProtectedPath.path(of: url, orElse: .fileReadInvalidFileName)
        guard url.isFileURL, ProtectedPath.isProtectedFile(path) else {
            self = try PlainFile.contents(of: url, options: options)
            return
        }
        self = try asCocoaErrors(path, writing: false) { () throws(KeychainError) in
            try ProtectedFile.contents(of: path)
        }
    }
}

/// The protection of a path.
enum ProtectedPath {
    /// Returns the path of a URL.
    ///
    /// - Throws: `CocoaError` with the code for a path that is not UTF-8: Foundation has paths as text, and
    ///   the policy of another directory would hold.
    static func path(of url: URL, orElse code: CocoaError.Code) throws -> String {
        let path = url.path
        let isExact = url.path(percentEncoded: true).contains("%EF%BF%BD") || !path.contains("\u{FFFD}")
        guard !url.isFileURL || !path.isEmpty && isExact else {
            throw CocoaError(code, userInfo: [NSURLErrorKey: url])
        }
        return path
    }

    /// Whether the file there is a protected one.
    static func isProtectedFile(_ path: String) -> Bool {
        // The call itself reports a file that cannot be read.
        (try? ProtectedFile.protection(of: path)) != nil
    }

    /// Whether a file that is written there is a protected one without a choice: because it is one, or
    /// by the policy of its directory.
    static func isProtected(_ path: String) throws -> Bool {
        if isProtectedFile(path) { return true }
        let parent = URL(filePath: path).deletingLastPathComponent().path
        guard FileManager.default.fileExists(atPath: parent) else { return false }
        return try asCocoaErrors(path, writing: true) { () throws(KeychainError) in
            try ProtectedDirectory.protection(of: parent) != nil
        }
    }
}
