// SPDX-License-Identifier: Apache-2.0

internal import FileProtection
package import Foundation
internal import Latchkey
internal import LinuxSystem

extension FileManager {
    /// `FileManager.default`.
    @_silgen_name("__wrap_$s20FoundationEssentials11FileManagerC7defaultACvgZ")
    package class func redirectedDefault() -> FileManager { ProtectingFileManager.instance }
}

/// Foundation's file manager, with the protection of files.
///
/// Its Sendable is unchecked because Foundation's class is so; it adds no state.
final class ProtectingFileManager: FileManager, @unchecked Sendable {
    static let instance = ProtectingFileManager()

    /// `.protectionKey` protects a file in place, or changes its class; for a directory it is the class of its new files.
    override func setAttributes(_ attributes: [FileAttributeKey: Any], ofItemAtPath path: String) throws {
        guard let protection = try FileProtectionClass.of(attributes) else {
            return try super.setAttributes(attributes, ofItemAtPath: path)
        }
        let others = attributes.filter { $0.key != .protectionKey }
        if !others.isEmpty { try super.setAttributes(others, ofItemAtPath: path) }
        try asCocoaErrors(path, writing: true) { () throws(KeychainError) in
            if (try? FileStatus.of(path))?.kind == .directory {
                try ProtectedDirectory.setProtection(protection, of: path)
            } else {
                try ProtectedFile.protect(path, protection)
            }
        }
    }

    /// Of a protected file also its class, and, while it is open, the length of its content as the size.
    override func attributesOfItem(atPath path: String) throws -> [FileAttributeKey: Any] {
        var attributes = try super.attributesOfItem(atPath: path)
        guard attributes[.type] as? FileAttributeType == .typeRegular, ProtectedRead(path: path).isProtected else {
            return attributes
        }
        let protection = try asCocoaErrors(path, writing: false) { () throws(KeychainError) in
            try ProtectedFile.protection(of: path)
        }
        attributes[.protectionKey] = protection.map { FileProtectionType(rawValue: $0.constant) }
        if let length = try? ProtectedFile(path).length { attributes[.size] = NSNumber(value: length) }
        return attributes
    }

    /// With `.protectionKey`, a protected file.
    override func createFile(
        atPath path: String, contents data: Data?, attributes attr: [FileAttributeKey: Any]? = nil
    ) -> Bool {
        do {
            guard let write = try ProtectedWrite(toPath: path, protection: try FileProtectionClass.of(attr ?? [:]))
            else {
                return super.createFile(atPath: path, contents: data, attributes: attr)
            }
            try write.write(data ?? Data())
            let others = attr?.filter { $0.key != .protectionKey } ?? [:]
            if !others.isEmpty { try super.setAttributes(others, ofItemAtPath: path) }
            return true
        } catch {
            // Foundation's function reports no reason.
            return false
        }
    }

    override func contents(atPath path: String) -> Data? {
        let data = super.contents(atPath: path)
        guard let data, data.hasProtectionMark else { return data }
        do { return try ProtectedRead(path: path).contents() ?? data } catch { return nil }
    }

    /// `.protectionKey` is the class of the new files of the directory.
    override func createDirectory(
        atPath path: String, withIntermediateDirectories createIntermediates: Bool,
        attributes: [FileAttributeKey: Any]? = nil
    ) throws {
        guard let protection = try FileProtectionClass.of(attributes ?? [:]) else {
            return try super.createDirectory(
                atPath: path, withIntermediateDirectories: createIntermediates, attributes: attributes)
        }
        try super.createDirectory(
            atPath: path, withIntermediateDirectories: createIntermediates,
            attributes: attributes?.filter { $0.key != .protectionKey })
        try asCocoaErrors(path, writing: true) { () throws(KeychainError) in
            try ProtectedDirectory.setProtection(protection, of: path)
        }
    }

    override func createDirectory(
        at url: URL, withIntermediateDirectories createIntermediates: Bool, attributes: [FileAttributeKey: Any]? = nil
    ) throws {
        guard url.isFileURL, attributes?[.protectionKey] != nil else {
            return try super.createDirectory(
                at: url, withIntermediateDirectories: createIntermediates, attributes: attributes)
        }
        try createDirectory(
            atPath: url.path, withIntermediateDirectories: createIntermediates, attributes: attributes)
    }
}
