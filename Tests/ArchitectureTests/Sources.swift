// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The Swift files of the package.
enum Sources {
    struct File: Sendable {
        let name: String
        /// The path below `Sources`.
        let path: String
        let text: String
        let withoutComments: String

        init(path: String, text: String) {
            name = String(path.split(separator: "/").last ?? "")
            (self.path, self.text) = (path, text)
            withoutComments = text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
                line.trimmingCharacters(in: .whitespaces).hasPrefix("//") ? "" : String(line)
            }.joined(separator: "\n")
        }

        /// The modules that the file imports.
        var imports: [String] {
            withoutComments.split(separator: "\n").compactMap { line in
                let words = line.split(separator: " ").map(String.init)
                guard let position = words.firstIndex(of: "import"), !line.hasPrefix(" "), words.count > position + 1
                else { return nil }
                let kinds = ["struct", "class", "enum", "func", "protocol", "typealias", "let", "var"]
                let path = kinds.contains(words[position + 1]) ? words[position + 2] : words[position + 1]
                return path.split(separator: ".").first.map(String.init)
            }
        }
    }

    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The folders two levels below `Sources`.
    static func modules() throws -> [String] {
        try layers().flatMap { try entries(of: $0).map(\.lastPathComponent) }
    }

    static func files(of module: String) throws -> [File] {
        try all().filter { $0.path.split(separator: "/").dropFirst().first.map(String.init) == module }
    }

    static func all() throws -> [File] { try read.get() }

    /// Read once, because many tests go through all files.
    private static let read = Result { () throws -> [File] in
        let directory = root.appending(path: "Sources")
        return try FileManager.default.subpathsOfDirectory(atPath: directory.path).filter {
            $0.hasSuffix(".swift") && !$0.hasSuffix(".pb.swift")
        }
        .map { File(path: $0, text: try String(contentsOf: directory.appending(path: $0), encoding: .utf8)) }
    }

    private static func layers() throws -> [URL] {
        try entries(of: root.appending(path: "Sources"))
    }

    private static func entries(of directory: URL) throws -> [URL] {
        try FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil).filter {
            $0.hasDirectoryPath
        }
    }
}
