// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem
internal import NIOCore
internal import TransportPolicy

/// The received part of a body that was not read yet. An event loop appends to it, one task reads.
///
/// The event loop stops reading from the connection at ``maxBytes``, and goes on when they are read.
final class ResponseBuffer: Sendable {
    fileprivate struct State {
        var chunks: [ByteBuffer] = []
        var bytes = 0
        var end: Result<Void, any Error>?
        var reader: CheckedContinuation<[ByteBuffer]?, any Error>?
        var isPaused = false
    }

    private let state = SystemMutex(State())
    /// Called when the connection may be read again.
    private let resume: @Sendable () -> Void
    static let maxBytes = 256 * 1024

    init(resume: @escaping @Sendable () -> Void) { self.resume = resume }

    /// Returns whether more may follow now.
    func append(_ chunk: ByteBuffer) -> Bool {
        let (reader, isWanted) = state.withLock { state -> (CheckedContinuation<[ByteBuffer]?, any Error>?, Bool) in
            if let reader = state.reader {
                state.reader = nil
                return (reader, true)
            }
            guard state.end == nil else { return (nil, true) }
            state.chunks.append(chunk)
            state.bytes += chunk.readableBytes
            // Bytes that arrive after the pause do not end it: only the reader does.
            if state.bytes >= Self.maxBytes { state.isPaused = true }
            return (nil, !state.isPaused)
        }
        reader?.resume(returning: [chunk])
        return isWanted
    }

    /// Ends the body; the first end counts. Bytes that were received before can still be read, unless the end is a
    /// cancellation of the reader itself.
    func end(_ result: Result<Void, any Error>, discarding: Bool = false) {
        let reader = state.withLock { state -> CheckedContinuation<[ByteBuffer]?, any Error>? in
            if discarding { (state.chunks, state.bytes) = ([], 0) }
            guard state.end == nil else { return nil }
            state.end = result
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume(with: result.map { nil })
    }

    /// Returns everything that was received and not read, as soon as there is something; nil at the
    /// end.
    func next() async throws -> [ByteBuffer]? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let (result, resumes) = state.withLock { $0.take(continuation) }
                if resumes { resume() }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            end(.failure(CancellationError()), discarding: true)
        }
    }
}

extension ResponseBuffer.State {
    /// Takes the chunks, or keeps the reader until there are some.
    fileprivate mutating func take(
        _ continuation: CheckedContinuation<[ByteBuffer]?, any Error>
    ) -> (result: Result<[ByteBuffer]?, any Error>?, resumes: Bool) {
        guard !chunks.isEmpty else {
            if let end { return (end.map { nil }, false) }
            guard reader == nil else {
                return (.failure(HTTPFailure(.badServerResponse, "a body is read by one task at a time")), false)
            }
            reader = continuation
            return (nil, false)
        }
        defer { (chunks, bytes, isPaused) = ([], 0, false) }
        return (.success(chunks), isPaused)
    }
}
