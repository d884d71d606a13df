// SPDX-License-Identifier: Apache-2.0

internal import FileProtection
internal import Foundation
internal import Latchkey
internal import LatchkeyService
internal import LinuxSystem

/// A call of Foundation that writes a protected file.
struct ProtectedWrite {
    private let path: String
    /// Nil for that of the file, or of its directory.
    private let protection: FileProtectionClass?
    private let replaces: Bool

    /// Nil for a plain file: the call names no class, there is no protected file, and no directory above it has a
    /// class.
    ///
    /// - Throws: `CocoaError` with the code `featureUnsupported` for an unknown class, with `fileWriteInvalidFileName` for
    ///   a path that is not UTF-8; the error of a directory's class that cannot be read.
    init?(to url: URL, _ options: Data.WritingOptions = []) throws {
        let protection = try FileProtectionClass.of(options)
        guard url.isFileURL else { return nil }
        let path: FilePath? = url.withUnsafeFileSystemRepresentation { path in
            guard let path, protection != nil || ProtectionProbe.concerns(path) else { return nil }
            return FilePath(cString: path)
        }
        guard let path else { return nil }
        try self.init(path, protection, replaces: !options.contains(.withoutOverwriting))
    }

    init?(toPath path: String, protection: FileProtectionClass? = nil) throws {
        guard protection != nil || path.withCString({ ProtectionProbe.concerns($0) }) else { return nil }
        try self.init(FilePath(path), protection, replaces: true)
    }

    private init?(_ path: FilePath, _ protection: FileProtectionClass?, replaces: Bool) throws {
        guard try protection != nil || Self.isProtected(path) else { return nil }
        guard let text = path.text else {
            throw CocoaError(.fileWriteInvalidFileName, userInfo: [NSFilePathErrorKey: path.description])
        }
        (self.path, self.protection, self.replaces) = (text, protection, replaces)
    }

    private static func isProtected(_ path: FilePath) throws -> Bool {
        if ProtectedFileMark.isPresent(at: path) { return true }
        guard let parent = path.parent, (try? FileStatus.of(parent))?.kind == .directory else { return false }
        return try asCocoaErrors(path.description, writing: true) { () throws(KeychainError) in
            try withErrors(as: { KeychainError($0, path: path.description) }) { () throws(FileProtectionError) in
                try ProtectionPolicy.nearest(to: parent) != nil
            }
        }
    }

    func write(_ data: Data) throws {
        do throws(KeychainError) {
            try ProtectedFile.write(data, to: path, protection: protection, replacing: replaces)
        } catch {
            guard replaces || (try? FileStatus.ofLink(FilePath(path))) == nil else {
                throw CocoaError(.fileWriteFileExists, userInfo: [NSFilePathErrorKey: path])
            }
            throw CocoaError.of(error, writing: true, path: path)
        }
    }

    func write(_ text: some StringProtocol, _ encoding: String.Encoding) throws {
        guard let data = text.data(using: encoding) else {
            throw CocoaError(.fileWriteInapplicableStringEncoding, userInfo: [NSFilePathErrorKey: path])
        }
        try write(data)
    }
}
