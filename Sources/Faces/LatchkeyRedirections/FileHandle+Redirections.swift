// SPDX-License-Identifier: Apache-2.0

internal import CLatchkey
internal import FileProtection
package import Foundation
internal import Glibc

// As Data+Redirections.swift, for handles. A handle for reading has a copy of the content in memory; a handle that
// writes to a protected file is an error, because Foundation's would damage the file. An optimized program does not call
// the symbols of the three initializers with a path as text: Documentation/Redirections.md.
extension FileHandle {
    /// `FileHandle.init(forReadingFrom:)`.
    @_silgen_name("__wrap_$s10Foundation10FileHandleC14forReadingFromAC0A10Essentials3URLV_tKcfC")
    package class func redirectedReading(from url: __owned URL) throws -> FileHandle {
        let handle = try plainReading(from: url)
        return try handle.openingProtected { try ProtectedRead(url).contents() }
    }

    @_silgen_name("__real_$s10Foundation10FileHandleC14forReadingFromAC0A10Essentials3URLV_tKcfC")
    private class func plainReading(from url: __owned URL) throws -> FileHandle

    /// `FileHandle.init(forWritingTo:)`.
    @_silgen_name("__wrap_$s10Foundation10FileHandleC12forWritingToAC0A10Essentials3URLV_tKcfC")
    package class func redirectedWriting(to url: __owned URL) throws -> FileHandle {
        try refuseProtected(ProtectedRead(url))
        return try plainWriting(to: url)
    }

    @_silgen_name("__real_$s10Foundation10FileHandleC12forWritingToAC0A10Essentials3URLV_tKcfC")
    private class func plainWriting(to url: __owned URL) throws -> FileHandle

    /// `FileHandle.init(forUpdating:)`.
    @_silgen_name("__wrap_$s10Foundation10FileHandleC11forUpdatingAC0A10Essentials3URLV_tKcfC")
    package class func redirectedUpdating(_ url: __owned URL) throws -> FileHandle {
        try refuseProtected(ProtectedRead(url))
        return try plainUpdating(url)
    }

    @_silgen_name("__real_$s10Foundation10FileHandleC11forUpdatingAC0A10Essentials3URLV_tKcfC")
    private class func plainUpdating(_ url: __owned URL) throws -> FileHandle

    /// `FileHandle.init(forReadingAtPath:)`.
    @_silgen_name("__wrap_$s10Foundation10FileHandleC16forReadingAtPathACSgSS_tcfC")
    package class func redirectedReading(atPath path: __owned String) -> FileHandle? {
        let handle = plainReading(atPath: path)
        return try? handle?.openingProtected { try ProtectedRead(path: path).contents() }
    }

    @_silgen_name("__real_$s10Foundation10FileHandleC16forReadingAtPathACSgSS_tcfC")
    private class func plainReading(atPath path: __owned String) -> FileHandle?

    /// `FileHandle.init(forWritingAtPath:)`.
    @_silgen_name("__wrap_$s10Foundation10FileHandleC16forWritingAtPathACSgSS_tcfC")
    package class func redirectedWriting(atPath path: __owned String) -> FileHandle? {
        (try? refuseProtected(ProtectedRead(path: path))).flatMap { plainWriting(atPath: path) }
    }

    @_silgen_name("__real_$s10Foundation10FileHandleC16forWritingAtPathACSgSS_tcfC")
    private class func plainWriting(atPath path: __owned String) -> FileHandle?

    /// `FileHandle.init(forUpdatingAtPath:)`.
    @_silgen_name("__wrap_$s10Foundation10FileHandleC17forUpdatingAtPathACSgSS_tcfC")
    package class func redirectedUpdating(atPath path: __owned String) -> FileHandle? {
        (try? refuseProtected(ProtectedRead(path: path))).flatMap { plainUpdating(atPath: path) }
    }

    @_silgen_name("__real_$s10Foundation10FileHandleC17forUpdatingAtPathACSgSS_tcfC")
    private class func plainUpdating(atPath path: __owned String) -> FileHandle?

    // MARK: Protected files

    /// Returns this handle of a plain file, or one of the content of a protected file.
    private func openingProtected(_ contents: () throws -> Data?) throws -> FileHandle {
        guard ProtectedFileMark.isPresent(in: fileDescriptor), let contents = try contents() else { return self }
        let descriptor = contents.withUnsafeBytes { latchkey_sealed_memory_file($0.baseAddress, $0.count) }
        guard descriptor >= 0 else {
            let cause = NSError(domain: NSPOSIXErrorDomain, code: Int(errno))
            throw CocoaError(.fileReadUnknown, userInfo: [NSUnderlyingErrorKey: cause])
        }
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    private class func refuseProtected(_ file: ProtectedRead) throws {
        guard file.isProtected else { return }
        throw CocoaError(
            .featureUnsupported,
            userInfo: [
                NSLocalizedDescriptionKey:
                    "FileHandle writes to no protected file: use ProtectedFileHandle of Latchkey, or Data.write(to:)"
            ])
    }
}
