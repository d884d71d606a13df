// SPDX-License-Identifier: Apache-2.0

import NIOCore
import Synchronization
import Testing

@testable import HTTPConnections

/// The received part of a body, between an event loop and a reader.
@Suite("Response buffer")
struct ResponseBufferTests {
    private final class Resumptions: Sendable {
        let count = Atomic(0)
    }

    private static func chunk(_ length: Int) -> ByteBuffer { ByteBuffer(repeating: 0x78, count: length) }

    @Test("A body that was paused is resumed by its reader, also if more arrived after the pause")
    func pause() async throws {
        let resumptions = Resumptions()
        let buffer = ResponseBuffer { resumptions.count.add(1, ordering: .relaxed) }
        let half = ResponseBuffer.maxBytes / 2
        #expect(buffer.append(Self.chunk(half)) && !buffer.append(Self.chunk(half)))
        #expect(!buffer.append(Self.chunk(1)))
        let chunks = try await buffer.next()
        #expect(chunks?.map(\.readableBytes) == [half, half, 1])
        #expect(resumptions.count.load(ordering: .relaxed) == 1)
        // Chunks of the same burst arrive while the resumption is on its way.
        #expect(buffer.append(Self.chunk(1)))
        #expect(try await buffer.next()?.count == 1)
        #expect(resumptions.count.load(ordering: .relaxed) == 1)
    }

    @Test("Bytes received before the end are read before it, and a cancelled body is forgotten")
    func ends() async throws {
        let buffer = ResponseBuffer {}
        _ = buffer.append(Self.chunk(3))
        buffer.end(.success(()))
        #expect(try await buffer.next()?.map(\.readableBytes) == [3])
        #expect(try await buffer.next() == nil)

        let cancelled = ResponseBuffer {}
        _ = cancelled.append(Self.chunk(3))
        cancelled.end(.failure(CancellationError()), discarding: true)
        await #expect(throws: CancellationError.self) { try await cancelled.next() }
    }
}
