// SPDX-License-Identifier: Apache-2.0

package import NIOCore

/// The body of a response. It is read once.
package struct HTTPResponseBody: AsyncSequence, Sendable {
    package typealias Element = ByteBuffer

    let reader: BodyReader
    let codings: [ContentCoding]
    let maxDecodedRatio: Int

    package struct AsyncIterator: AsyncIteratorProtocol {
        private let reader: BodyReader
        private var decoding: BodyDecoding?
        /// The buffers that were received and not returned, in reverse order.
        private var received: [ByteBuffer] = []

        init(_ reader: BodyReader, _ decoding: BodyDecoding?) {
            (self.reader, self.decoding) = (reader, decoding)
        }

        /// Throws `HTTPFailure`, or `CancellationError`.
        package mutating func next() async throws -> ByteBuffer? {
            guard let decoding else { return try await nextReceived() }
            do {
                while true {
                    if let decoded = try decoding.output() { return decoded }
                    guard let received = try await nextReceived() else {
                        try decoding.finish()
                        return nil
                    }
                    decoding.append(received)
                }
            } catch let failure as HTTPFailure {
                reader.end(failure)
                throw failure
            }
        }

        /// Returns everything that can be read now, as soon as there is something; nil at the end. Throws
        /// as `next`.
        package mutating func nextChunks() async throws -> [ByteBuffer]? {
            if decoding != nil || !received.isEmpty { return try await next().map { [$0] } }
            return try await reader.next()
        }

        private mutating func nextReceived() async throws -> ByteBuffer? {
            if let chunk = received.popLast() { return chunk }
            guard let chunks = try await reader.next() else { return nil }
            received = chunks.reversed()
            return received.popLast()
        }
    }

    package func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(reader, codings.isEmpty ? nil : BodyDecoding(codings, maxRatio: maxDecodedRatio))
    }
}

/// Ends the exchange when nothing reads its body any more.
final class BodyReader: Sendable {
    private let exchange: ActiveExchange

    init(_ exchange: ActiveExchange) { self.exchange = exchange }

    func next() async throws -> [ByteBuffer]? { try await exchange.body.next() }
    func end(_ failure: HTTPFailure) { exchange.cancel(failure) }

    deinit { exchange.cancel(.cancelled) }
}
