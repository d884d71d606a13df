// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import LinuxSystem

/// A private directory that is removed when the object is destroyed.
public final class TemporaryDirectory: Sendable {
    public let path: String

    public init() throws {
        path = FileManager.default.temporaryDirectory.path + "/latchkey-test-" + RandomBytes.hexadecimal(count: 8)
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    }

    /// Creates a directory of mode 0755 that every user can access, even if the default location of
    /// temporary files is private.
    public init(reachableByAll: Void) throws {
        let usual = FileManager.default.temporaryDirectory.path
        let parent = [usual, "/tmp", "/var/tmp"].first(where: Self.isReachableByAll) ?? usual
        path = (parent.hasSuffix("/") ? parent : "\(parent)/") + "latchkey-test-" + RandomBytes.hexadecimal(count: 8)
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
    }

    /// Whether the modes allow every user to read the file or enter the directory at this path,
    /// including all directories above it.
    public static func isReachableByAll(_ path: String) -> Bool {
        guard let real = realPath(path) else { return false }
        let components = real.split(separator: "/")
        return (0...components.count).allSatisfy { count in
            var status = stat()
            guard stat("/" + components.prefix(count).joined(separator: "/"), &status) == 0 else { return false }
            return status.st_mode & (status.st_mode & S_IFMT == S_IFDIR ? 0o001 : 0o004) != 0
        }
    }

    /// Returns the path without symbolic links; nil if it does not exist.
    static func realPath(_ path: String) -> String? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return String(cString: real)
    }

    /// Returns every file below the directory with its content.
    public func files() throws -> [String: [UInt8]] {
        var contents: [String: [UInt8]] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: path) {
            var isDirectory = false
            guard FileManager.default.fileExists(atPath: "\(path)/\(name)", isDirectory: &isDirectory), !isDirectory
            else { continue }
            contents[name] = Array(try Data(contentsOf: URL(filePath: "\(path)/\(name)")))
        }
        return contents
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }
}
