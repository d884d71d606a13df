// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import FileProtection
internal import Foundation
internal import Glibc
internal import Latchkey
internal import LinuxSystem
internal import NIOCore

/// Reads a file on a queue of its own: of a protected file, the content.
///
/// Its Sendable is unchecked because `FileHandle` is not Sendable: only the queue uses it.
final class FileBody: @unchecked Sendable {
    private enum Source {
        case plain(FileHandle)
        case protected(ProtectedFile)
    }

    private let source: Source
    private let queue: DispatchQueue
    private var rest: Int
    let length: Int

    /// Opens a file. No initializer of `FileHandle` with a name is called: programs may redirect it.
    private init(opening file: URL, _ queue: DispatchQueue) throws {
        let path = file.withUnsafeFileSystemRepresentation { $0.map { FilePath(cString: $0) } } ?? FilePath(file.path)
        let descriptor = try OwnedDescriptor(opening: path, flags: O_RDONLY | O_NOCTTY)
        if ProtectedFileMark.isPresent(in: descriptor.rawValue) {
            guard let text = path.text else { throw CocoaError(.fileReadInvalidFileName) }
            let protected = try ProtectedFile(text)
            (source, length) = (.protected(protected), Int(clamping: try protected.length))
        } else {
            let handle = FileHandle(fileDescriptor: descriptor.release(), closeOnDealloc: true)
            source = .plain(handle)
            length = Int(clamping: try handle.seekToEnd())
            try handle.seek(toOffset: 0)
        }
        self.queue = queue
        rest = length
    }

    static func opened(_ file: URL, _ url: URL?) async throws(LoadError) -> FileBody {
        let queue = DispatchQueue(label: "LatchkeyURLSession.file")
        let opened: Result<FileBody, any Error> = await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: Result { try FileBody(opening: file, queue) }) }
        }
        do { return try opened.get() } catch {
            throw LoadError(.fileDoesNotExist, "the file of the body cannot be read: \(file.path): \(error)", url)
        }
    }

    @Sendable func next() async throws -> ByteBuffer? {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try self.read() }) }
        }
    }

    /// At most the length that was announced, even if the file has grown.
    private func read() throws -> ByteBuffer? {
        let count = min(rest, StreamHandle.chunkLength)
        guard count > 0 else { return nil }
        let data =
            switch source {
            case .plain(let handle): try handle.read(upToCount: count) ?? Data()
            case .protected(let file): try file.read(at: UInt64(length - rest), count: count)
            }
        guard !data.isEmpty else { return nil }
        rest -= data.count
        return ByteBuffer(bytes: data)
    }
}
