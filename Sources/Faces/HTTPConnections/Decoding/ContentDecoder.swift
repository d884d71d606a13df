// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import TransportPolicy

/// Decodes one coding of a body, a piece at a time, so that a small body that decodes to a large one
/// costs no memory.
protocol ContentDecoder: AnyObject {
    /// Decodes the next piece, of at most
    /// ``ContentDecoders/pieceLength`` bytes, and removes the bytes it has read from `input`; nil if more input is
    /// needed.
    func decode(_ input: inout ByteBuffer) throws(HTTPFailure) -> ByteBuffer?

    /// - Throws: if the content is not complete. A content of no bytes is complete.
    func finish() throws(HTTPFailure)
}

enum ContentDecoders {
    static let pieceLength = 64 * 1024

    static func malformed(_ coding: String, _ reason: String) -> HTTPFailure {
        HTTPFailure(.cannotDecodeContentData, "the content cannot be decoded as \(coding): \(reason)")
    }
}

/// The decoding of a body by its codings, the last applied first. Used by one task.
final class BodyDecoding {
    private struct Stage {
        let decoder: any ContentDecoder
        var input = ByteBuffer()
    }

    private var stages: [Stage]
    private let maxRatio: Int
    private var (received, decoded) = (0, 0)

    init(_ codings: [ContentCoding], maxRatio: Int) {
        stages = codings.reversed().compactMap { $0.decoder() }.map { Stage(decoder: $0) }
        self.maxRatio = maxRatio
    }

    func append(_ bytes: ByteBuffer) {
        received += bytes.readableBytes
        if stages[0].input.readableBytes == 0 {
            stages[0].input = bytes
        } else {
            stages[0].input.writeImmutableBuffer(bytes)
        }
    }

    /// The next decoded piece; nil if more input is needed.
    func output() throws(HTTPFailure) -> ByteBuffer? {
        guard let piece = try output(of: stages.count - 1) else { return nil }
        decoded += piece.readableBytes
        let (limit, overflows) = received.multipliedReportingOverflow(by: maxRatio)
        if decoded > HTTPLimits.decodedAllowance, !overflows, decoded > limit {
            throw HTTPFailure(
                .dataLengthExceedsMaximum,
                "decoded content must be at most \(maxRatio) times as long as the received one, found \(received) bytes "
                    + "that decode to more than \(limit)")
        }
        return piece
    }

    private func output(of index: Int) throws(HTTPFailure) -> ByteBuffer? {
        while true {
            if let piece = try stages[index].decoder.decode(&stages[index].input) { return piece }
            guard index > 0, let input = try output(of: index - 1) else { return nil }
            stages[index].input.writeImmutableBuffer(input)
        }
    }

    func finish() throws(HTTPFailure) { for stage in stages { try stage.decoder.finish() } }
}
