// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxSystem

/// The parsed content of a system file, read again when the file changes.
final class ParsedFile<Content: Sendable>: Sendable {
    private struct State {
        var kept: StampedValue<Result<Content, SystemError>>?
        var readCount = 0
    }

    private let path: String
    private let limit: Int
    private let parse: @Sendable ([UInt8]) throws(SystemError) -> Content
    private let state = SystemMutex(State())

    /// - Parameters:
    ///   - limit: the maximum length of the file in bytes.
    ///   - parse: called with no bytes if the file does not exist; throws EINVAL or EFBIG if it
    ///     cannot parse the bytes.
    init(_ path: String, limit: Int, parse: @escaping @Sendable ([UInt8]) throws(SystemError) -> Content) {
        (self.path, self.limit, self.parse) = (path, limit, parse)
    }

    /// Returns the content.
    ///
    /// - Throws: if the file cannot be read or parsed. A parse error is kept until the file
    ///   changes; after a read error the next call tries again.
    func content() throws(SystemError) -> Content {
        let outcome = state.withLock { state -> Result<Content, SystemError> in
            if let kept = state.kept, kept.isCurrent { return kept.value }
            state.readCount += 1
            let fresh = StampedValue(readFrom: [path]) {
                Result { () throws(SystemError) in try parse(try BoundedFile.read(path, limit: limit) ?? []) }
            }
            state.kept = if case .failure(let error) = fresh.value, !error.isContentError { nil } else { fresh }
            return fresh.value
        }
        return try outcome.get()
    }

    /// The number of times that the file was read; for tests.
    var readCount: Int { state.withLock { $0.readCount } }
}

extension SystemError {
    /// Whether the error is about a file's content, so that it holds until the file changes. Other
    /// causes, such as a missing descriptor or permission, can go away by themselves.
    var isContentError: Bool { [EINVAL, EFBIG].contains(code) }
}
