// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Copies of executables and of the libraries that they need, in a directory where every user can
/// run them. The package and the toolchain may be below directories of mode 0700.
public final class SharedExecutables: Sendable {
    private let directory: TemporaryDirectory

    /// - Parameter names: executables of this package, or absolute paths.
    public init(_ names: [String]) throws {
        directory = try TemporaryDirectory(reachableByAll: ())
        for name in names {
            let path = Executable.path(name)
            try copy(path, as: (path as NSString).lastPathComponent)
            for (library, place) in try Self.libraries(of: path) where !TemporaryDirectory.isReachableByAll(place) {
                // The executable's run path includes its own directory.
                try copy(place, as: library)
            }
        }
    }

    /// Returns the path of the copy of this executable.
    public func path(_ name: String) -> String { "\(directory.path)/\(name)" }

    private func copy(_ path: String, as name: String) throws {
        guard !FileManager.default.fileExists(atPath: self.path(name)) else { return }
        try FileManager.default.copyItem(atPath: TemporaryDirectory.realPath(path) ?? path, toPath: self.path(name))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: self.path(name))
    }

    /// Returns the libraries that the dynamic loader finds for an executable: names and paths.
    private static func libraries(of path: String) throws -> [(name: String, path: String)] {
        let loader = Process()
        loader.executableURL = URL(filePath: "/usr/bin/ldd")
        loader.arguments = [path]
        let output = Pipe()
        loader.standardOutput = output
        try loader.start()
        let text = String(decoding: output.fileHandleForReading.awaitEnd(), as: UTF8.self)
        loader.awaitExit()
        return text.split(separator: "\n").compactMap { line in
            let words = line.split(whereSeparator: \.isWhitespace).map(String.init)
            guard words.count > 2, words[1] == "=>", words[2].hasPrefix("/") else { return nil }
            return (words[0], words[2])
        }
    }
}
