// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import FoundationNetworking
internal import Glibc
internal import LinuxSystem

/// The file of an incomplete download, and the information about its content.
///
/// `FILE.partial` has the content; `FILE.partial-info` has the URL, the validator, and the number of bytes that were on
/// disk when it was written. After a crash, only those bytes are used.
final class PartialDownload: Sendable {
    private struct Info: Codable {
        let url: String
        /// For `If-Range`: a strong entity tag, or a date.
        let validator: String
        let durableCount: Int64
    }

    private struct State {
        var validator: String?
        var count: Int64 = 0
        var durableCount: Int64 = 0
        var expected: Int64?
        var isResuming = false
    }

    private let path: String
    private let url: URL?
    private let state: SystemMutex<State>

    private var contentPath: String { path + ".partial" }
    private var infoPath: String { path + ".partial-info" }

    /// So much may be lost by a crash.
    private static let syncInterval: Int64 = 8 << 20
    private static let maxInfoLength = 64 << 10

    private init(_ path: String, _ url: URL?, _ state: sending State) {
        (self.path, self.url) = (path, url)
        self.state = SystemMutex(state)
    }

    /// The number of bytes that were received.
    var count: Int64 { state.withLock { $0.count } }
    var expected: Int64? { state.withLock { $0.expected } }
    var isResuming: Bool { state.withLock { $0.isResuming } }

    /// The fields that ask for the rest.
    var resumeFields: [(String, String)] {
        state.withLock { state in
            guard state.isResuming, let validator = state.validator else { return [] }
            return [("Range", "bytes=\(state.count)-"), ("If-Range", validator)]
        }
    }

    // MARK: Opening

    static func opened(_ path: String, _ url: URL?) async throws(LoadError) -> PartialDownload {
        await Blocking.value {
            var state = State()
            if let info = info(path + ".partial-info"), info.url == url?.absoluteString,
                let length = length(path + ".partial"), length >= info.durableCount, info.durableCount > 0
            {
                (state.validator, state.count, state.durableCount) = (
                    info.validator, info.durableCount, info.durableCount
                )
                state.isResuming = true
            }
            return PartialDownload(path, url, state)
        }
    }

    private static func info(_ path: String) -> Info? {
        guard let bytes = (try? BoundedFile.read(path, limit: maxInfoLength)).flatMap(\.self) else { return nil }
        guard let info = try? JSONDecoder().decode(Info.self, from: Data(bytes)) else { return nil }
        return info.validator.utf8.allSatisfy { (0x20..<0x7F).contains($0) } ? info : nil
    }

    private static func length(_ path: String) -> Int64? {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int64(status.st_size)
    }

    // MARK: Responses

    /// Prepares for the body of a response; false if the request must be sent again from the
    /// beginning.
    func accept(_ response: HTTPURLResponse) async throws(LoadError) -> Bool {
        let length = response.value(forHTTPHeaderField: "Content-Length").flatMap { Int64($0) }
        guard response.statusCode == 206 else {
            try await restart(Self.validator(response))
            state.withLock { $0.expected = length }
            return true
        }
        let range = ContentRange(response.value(forHTTPHeaderField: "Content-Range"))
        guard isResuming, let range, range.first == count else {
            try await restart(nil)
            return false
        }
        state.withLock { $0.expected = range.total ?? length.map { range.first + $0 } }
        try await blocking { _ = try $0.open(truncatingTo: $0.count) }
        return true
    }

    /// Forgets the received bytes.
    func restart(_ validator: String?) async throws(LoadError) {
        state.withLock { state in
            state = State()
            state.validator = validator
        }
        try await blocking { download in
            // The info first: it must not name content that is no longer there.
            unlink(download.infoPath)
            _ = try download.open(truncatingTo: 0)
        }
    }

    /// A weak entity tag does not say that the bytes are the same (RFC 9110, section 13.1.5).
    private static func validator(_ response: HTTPURLResponse) -> String? {
        if let tag = response.value(forHTTPHeaderField: "ETag") { return tag.hasPrefix("W/") ? nil : tag }
        return response.value(forHTTPHeaderField: "Last-Modified")
    }

    // MARK: Writing

    func write(_ data: Data) async throws(LoadError) {
        try await blocking { download in
            // Opened in the closure, because a value that cannot be copied cannot be captured.
            try data.withUnsafeBytes { bytes in
                let file = try download.open(truncatingTo: nil)
                try file.seekToEnd()
                try file.descriptor.write(bytes, path: download.contentPath)
            }
            let isDue = download.state.withLock { state in
                state.count += Int64(data.count)
                return state.count - state.durableCount >= Self.syncInterval
            }
            if isDue { try download.save() }
        }
    }

    /// Makes the received bytes durable, for the next attempt.
    func keep() async { try? await blocking { try $0.save() } }

    /// Checks the length, makes the content durable, and gives the file its name.
    func finish() async throws(LoadError) {
        let (count, expected) = state.withLock { ($0.count, $0.expected) }
        if let expected, count != expected {
            throw LoadError(.networkConnectionLost, "expected \(expected) bytes, received \(count)", url)
        }
        try await blocking { download in
            try download.open(truncatingTo: nil).descriptor.synchronize(path: download.contentPath)
            guard rename(download.contentPath, download.path) == 0 else {
                throw SystemError.last("rename", path: download.contentPath)
            }
            unlink(download.infoPath)
            try download.synchronizeDirectory()
        }
    }

    private func save() throws {
        let (validator, count) = state.withLock { ($0.validator, $0.count) }
        guard let validator, count > 0, let url else { return }
        try open(truncatingTo: nil).descriptor.synchronize(path: contentPath)
        guard
            let info = try? JSONEncoder().encode(
                Info(url: url.absoluteString, validator: validator, durableCount: count))
        else { return }
        let temporary = infoPath + ".new"
        try info.withUnsafeBytes { bytes in
            let file = try OwnedDescriptor(opening: temporary, flags: O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW)
            try file.write(bytes, path: temporary)
            try file.synchronize(path: temporary)
        }
        guard rename(temporary, infoPath) == 0 else { throw SystemError.last("rename", path: temporary) }
        try synchronizeDirectory()
        state.withLock { $0.durableCount = count }
    }

    private func synchronizeDirectory() throws(SystemError) {
        let directory = ParentDirectory.of(path) ?? "."
        try OwnedDescriptor(opening: directory, flags: O_RDONLY | O_DIRECTORY).synchronize(path: directory)
    }

    // MARK: The open file

    private struct OpenFile: ~Copyable {
        let descriptor: OwnedDescriptor
        let path: String

        borrowing func seekToEnd() throws(SystemError) {
            guard lseek(descriptor.rawValue, 0, SEEK_END) >= 0 else { throw .last("seek", path: path) }
        }
    }

    private func open(truncatingTo length: Int64?) throws(SystemError) -> OpenFile {
        let file = OpenFile(
            descriptor: try OwnedDescriptor(
                opening: contentPath, flags: O_WRONLY | O_CREAT | O_NOFOLLOW, mode: 0o666), path: contentPath)
        if let length, ftruncate(file.descriptor.rawValue, Int(length)) != 0 {
            throw .last("truncate", path: contentPath)
        }
        return file
    }

    private func blocking(_ work: @escaping @Sendable (PartialDownload) throws -> Void) async throws(LoadError) {
        let result = await Blocking.value { Result { try work(self) } }
        do { try result.get() } catch {
            throw LoadError(.cannotWriteToFile, "the download cannot be stored: \(error)", url)
        }
    }
}

/// The value of `Content-Range` (RFC 9110, section 14.4).
struct ContentRange: Hashable {
    let first: Int64
    /// Nil if it is not known.
    let total: Int64?

    init?(_ text: String?) {
        guard let text, text.lowercased().hasPrefix("bytes ") else { return nil }
        let parts = text.dropFirst(6).split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let bounds = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard bounds.count == 2, let first = Int64(bounds[0]), let last = Int64(bounds[1]), first >= 0, last >= first
        else { return nil }
        if parts[1] == "*" {
            total = nil
        } else {
            guard let total = Int64(parts[1]), total > last else { return nil }
            self.total = total
        }
        self.first = first
    }
}
