// SPDX-License-Identifier: Apache-2.0

internal import LatchkeyClient
internal import NIOCore
internal import TransportPolicy

/// Reads a body from the program and sends it at the pace of the connection.
struct RequestUpload: Sendable {
    let length: Int?
    let next: @Sendable () async throws -> ByteBuffer?

    /// Sends the whole body. A body of another length than was said, or one that throws, ends the
    /// exchange.
    func run(_ exchange: ActiveExchange) async {
        do {
            var count = 0
            while let chunk = try await next() {
                guard chunk.readableBytes > 0 else { continue }
                count += chunk.readableBytes
                if let length, count > length {
                    throw Self.exhausted("it must have \(length) bytes, found more")
                }
                try await exchange.send(chunk)
            }
            if let length, count < length { throw Self.exhausted("it must have \(length) bytes, found \(count)") }
            exchange.endBody()
        } catch let failure as HTTPFailure {
            exchange.cancel(failure)
        } catch is CancellationError {
            exchange.cancel(.cancelled)
        } catch {
            exchange.cancel(Self.exhausted("its stream failed: \(error)"))
        }
    }

    private static func exhausted(_ reason: String) -> HTTPFailure {
        HTTPFailure(.requestBodyStreamExhausted, "the body of the request cannot be sent: \(reason)")
    }
}
