// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxSystem
internal import Synchronization

/// What a file of the machine says, read again when the file changes.
final class ParsedFile<Content: Sendable>: Sendable {
    private struct State {
        var kept: StampedValue<Result<Content, SystemError>>?
        var readCount = 0
    }

    private let path: String
    private let limit: Int
    private let parse: @Sendable ([UInt8]) throws(SystemError) -> Content
    private let state = Mutex(State())

    /// - Parameters:
    ///   - limit: the max length of the file in bytes.
    ///   - parse: given no bytes where there is no file; throws EINVAL or EFBIG where it does not understand them.
    init(_ path: String, limit: Int, parse: @escaping @Sendable ([UInt8]) throws(SystemError) -> Content) {
        (self.path, self.limit, self.parse) = (path, limit, parse)
    }

    /// - Throws: where the file cannot be read or is not understood. The latter holds until it changes; the former is tried again.
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

    /// How often the file was read; for tests.
    var readCount: Int { state.withLock { $0.readCount } }
}

extension SystemError {
    /// Whether the error is about a file's content, and holds until the file changes. A descriptor or a right that is missing may be there the
    /// next time.
    var isContentError: Bool { [EINVAL, EFBIG].contains(code) }
}
