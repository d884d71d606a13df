// SPDX-License-Identifier: Apache-2.0

public import Foundation
internal import Latchkey

extension FileManager {
    /// Sets attributes, as Foundation does. `.protectionKey` protects a file in place, or changes its
    /// class; for a directory it is the class of its new files.
    public func setAttributes(_ attributes: [FileAttributeKey: Any], ofItemAtPath path: String) throws {
        let protection = try FileProtectionChoice.of(attributes)
        let others = attributes.filter { $0.key != .protectionKey }
        if !others.isEmpty { try PlainFile.setAttributes(others, ofItemAtPath: path) }
        guard let protection else { return }
        try asCocoaErrors(path, writing: true) { () throws(KeychainError) in
            try Self.protect(path, protection)
        }
    }

    /// Returns the attributes, as Foundation does; of a protected file also its class, and, while it is
    /// open, the length of its content as the size.
    public func attributesOfItem(atPath path: String) throws -> [FileAttributeKey: Any] {
        var attributes = try PlainFile.attributes(ofItemAtPath: path)
        guard attributes[.type] as? FileAttributeType == .typeRegular,
            let protection = try? ProtectedFile.protection(of: path)
        else { return attributes }
        attributes[.protectionKey] = FileProtectionType(rawValue: protection.constant)
        if let length = try? ProtectedFile(path).length { attributes[.size] = NSNumber(value: length) }
        return attributes
    }

    /// Creates a file, as Foundation does; with `.protectionKey`, a protected one.
    public func createFile(
        atPath path: String, contents data: Data?, attributes attr: [FileAttributeKey: Any]? = nil
    ) -> Bool {
        do {
            let protection = try FileProtectionChoice.of(attr)
            guard try protection != nil || ProtectedPath.isProtected(path) else {
                return PlainFile.create(path, data, attributes: attr)
            }
            try ProtectedFile.write(data ?? Data(), to: path, protection: protection)
            let others = attr?.filter { $0.key != .protectionKey } ?? [:]
            if !others.isEmpty { try PlainFile.setAttributes(others, ofItemAtPath: path) }
            return true
        } catch {
            // Foundation's function reports no reason.
            return false
        }
    }

    /// Returns the content of a file, also of a protected one; nil if it cannot be read.
    public func contents(atPath path: String) -> Data? { try? Data(contentsOf: URL(filePath: path)) }

    /// Creates a directory, as Foundation does. `.protectionKey` is the class of its new files.
    public func createDirectory(
        atPath path: String, withIntermediateDirectories createIntermediates: Bool,
        attributes: [FileAttributeKey: Any]? = nil
    ) throws {
        let protection = try FileProtectionChoice.of(attributes)
        try PlainFile.createDirectory(
            path, withIntermediateDirectories: createIntermediates,
            attributes: attributes?.filter { $0.key != .protectionKey })
        guard let protection else { return }
        try asCocoaErrors(path, writing: true) { () throws(KeychainError) in
            try ProtectedDirectory.setProtection(protection, of: path)
        }
    }

    /// Creates a directory, as ``createDirectory(atPath:withIntermediateDirectories:attributes:)`` does.
    public func createDirectory(
        at url: URL, withIntermediateDirectories createIntermediates: Bool,
        attributes: [FileAttributeKey: Any]? = nil
    ) throws {
        try createDirectory(
            atPath: url.path, withIntermediateDirectories: createIntermediates, attributes: attributes)
    }

    private static func protect(_ path: String, _ protection: FileProtectionClass) throws(KeychainError) {
        var isDirectory: ObjCBool = false
        _ = FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory)
        if isDirectory.boolValue { return try ProtectedDirectory.setProtection(protection, of: path) }
        try ProtectedFile.protect(path, protection)
    }
}
