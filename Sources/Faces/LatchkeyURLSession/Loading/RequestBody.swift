// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import HTTPConnections
internal import NIOCore

/// The body of a request, in a form that can be sent again, as far as its source allows it.
enum RequestBody: Sendable {
    case none
    case data(Data)
    case file(URL)
    /// Sent once; for a second time, the program is asked for another stream.
    case stream(StreamHandle)
    /// The program is asked for a stream each time.
    case requestedStream

    var isEmpty: Bool {
        switch self {
        case .none: true
        case .data(let data): data.isEmpty
        case .file, .stream, .requestedStream: false
        }
    }

    /// The bytes of a body that is in memory.
    var inMemory: [UInt8]? {
        switch self {
        case .none: []
        case .data(let data): Array(data)
        case .file, .stream, .requestedStream: nil
        }
    }

    /// The form for one request.
    ///
    /// - Parameters:
    ///   - attempt: 0 for the first time that the body is sent.
    ///   - newStream: asks the program for a stream.
    func prepared(attempt: Int, _ url: URL?, newStream: () async -> StreamHandle?) async throws(LoadError)
        -> PreparedBody
    {
        switch self {
        case .none: return PreparedBody(content: .none, length: 0)
        case .data(let data): return PreparedBody(content: .bytes(ByteBuffer(bytes: data)), length: data.count)
        case .file(let file):
            let reader = try await FileBody.opened(file, url)
            return PreparedBody(content: .stream(length: reader.length, next: reader.next), length: reader.length)
        case .stream(let handle) where attempt == 0:
            return PreparedBody(content: .stream(length: nil, next: handle.next), length: nil)
        case .stream, .requestedStream:
            guard let handle = await newStream() else {
                throw LoadError(
                    .requestBodyStreamExhausted,
                    "the body is a stream that was sent already: expected another one from the delegate "
                        + "(needNewBodyStream), or a body from data or a file", url)
            }
            return PreparedBody(content: .stream(length: nil, next: handle.next), length: nil)
        }
    }
}

struct PreparedBody: Sendable {
    let content: HTTPRequestBody
    /// Nil if it is not known.
    let length: Int?
}

/// Reads a stream of Foundation on a queue of its own, because a read can block.
///
/// Its Sendable is unchecked because `InputStream` is not Sendable: only the queue uses the stream.
final class StreamHandle: @unchecked Sendable {
    private let stream: InputStream
    private let queue = DispatchQueue(label: "LatchkeyURLSession.stream")

    init(_ stream: InputStream) { self.stream = stream }

    @Sendable func next() async throws -> ByteBuffer? {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try self.read() }) }
        }
    }

    private func read() throws -> ByteBuffer? {
        if stream.streamStatus == .notOpen { stream.open() }
        var bytes = [UInt8](repeating: 0, count: Self.chunkLength)
        let count = stream.read(&bytes, maxLength: bytes.count)
        guard count >= 0 else {
            stream.close()
            throw stream.streamError ?? CocoaError(.fileReadUnknown)
        }
        guard count > 0 else {
            stream.close()
            return nil
        }
        return ByteBuffer(bytes: bytes.prefix(count))
    }

    static let chunkLength = 64 << 10
}
