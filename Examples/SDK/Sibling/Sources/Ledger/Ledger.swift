// SPDX-License-Identifier: Apache-2.0

import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Lines of text in a directory, and on a server. It knows files and URLs only.
public struct Ledger {
    public let directory: URL

    /// - Parameter directory: it is created, if it is missing.
    public init(directory: URL) throws {
        self.directory = directory
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    private func file(_ name: String) -> URL { directory.appendingPathComponent(name) }

    /// The names of the pages, sorted.
    public func pages() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
    }

    /// Replaces a page.
    public func write(_ lines: [String], to page: String, atomically: Bool = true) throws {
        let text = lines.map { $0 + "\n" }.joined()
        if atomically {
            try Data(text.utf8).write(to: file(page), options: .atomic)
        } else {
            try text.write(to: file(page), atomically: false, encoding: .utf8)
        }
    }

    /// Appends a line to a page, which must exist.
    public func append(_ line: String, to page: String) throws {
        let handle = try FileHandle(forWritingTo: file(page))
        defer { try? handle.close() }
        try handle.seekToEnd()
        try handle.write(contentsOf: Data((line + "\n").utf8))
    }

    /// The lines of a page.
    public func lines(of page: String) throws -> [String] {
        try String(contentsOf: file(page), encoding: .utf8).split(separator: "\n").map(String.init)
    }

    /// The first bytes of a page.
    public func start(of page: String, count: Int) throws -> Data {
        let handle = try FileHandle(forReadingFrom: file(page))
        defer { try? handle.close() }
        return try handle.read(upToCount: count) ?? Data()
    }

    /// Copies a page, with its mode.
    public func copy(_ page: String, to other: String) throws {
        try FileManager.default.copyItem(at: file(page), to: file(other))
    }

    /// The permission bits of a page.
    public func mode(of page: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: file(page).path)[.posixPermissions] as? Int
    }

    /// Sends a page to a server, and returns its answer.
    public func send(_ page: String, to server: URL) async throws -> (status: Int, body: Data) {
        var request = URLRequest(url: server)
        request.httpMethod = "POST"
        request.setValue("text/x-ledger", forHTTPHeaderField: "Content-Type")
        let content = try Data(contentsOf: file(page))
        let (body, response) = try await URLSession.shared.upload(for: request, from: content)
        return ((response as? HTTPURLResponse)?.statusCode ?? 0, body)
    }
}
