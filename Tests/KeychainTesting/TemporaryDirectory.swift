// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import LinuxSystem

/// A private directory that is removed when the value goes.
public final class TemporaryDirectory: Sendable {
    public let path: String

    public init() throws {
        path = FileManager.default.temporaryDirectory.path + "/latchkey-test-" + RandomBytes.hexadecimal(count: 8)
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    }

    /// Every file below the directory, with its content.
    public func files() throws -> [String: [UInt8]] {
        var contents: [String: [UInt8]] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: path) {
            var isDirectory = false
            guard FileManager.default.fileExists(atPath: "\(path)/\(name)", isDirectory: &isDirectory), !isDirectory else { continue }
            contents[name] = Array(try Data(contentsOf: URL(filePath: "\(path)/\(name)")))
        }
        return contents
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }
}
