// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// Decodes gzip (RFC 1952), and deflate with the header of zlib (RFC 1950) or, as some servers send
/// it, without one (RFC 1951).
final class ZlibDecoder: ContentDecoder {
    enum Format: String {
        case gzip
        case deflate
    }

    private enum Phase {
        case beginning, content, ended
    }

    private let zlib: Zlib
    private let format: Format
    private let stream = ZlibStream()
    private var phase = Phase.beginning
    private var hasInput = false

    init(_ zlib: Zlib, _ format: Format) { (self.zlib, self.format) = (zlib, format) }

    deinit { if phase != .beginning { _ = zlib.end(stream.pointer) } }

    func decode(_ input: inout ByteBuffer) throws(HTTPFailure) -> ByteBuffer? {
        guard try begin(input) else { return nil }
        while phase == .content || input.readableBytes > 0 {
            if phase == .ended { try beginMember() }
            var output = ByteBufferAllocator().buffer(capacity: ContentDecoders.pieceLength)
            let result = inflate(&input, &output)
            switch result {
            case Zlib.ok, Zlib.bufferError: break
            case Zlib.streamEnd: phase = .ended
            default: throw malformed("zlib's error \(result)")
            }
            if output.readableBytes > 0 { return output }
            if phase == .content { return nil }
        }
        return nil
    }

    /// Further members of gzip continue the content (RFC 1952, section 2.2).
    private func beginMember() throws(HTTPFailure) {
        guard format == .gzip else { throw malformed("there are bytes after its end") }
        guard zlib.reset(stream.pointer) == Zlib.ok else { throw malformed("the decoder cannot begin again") }
        phase = .content
    }

    func finish() throws(HTTPFailure) {
        guard phase == .ended || phase == .beginning && !hasInput else { throw malformed("it ends early") }
    }

    /// Returns whether there are enough bytes to know the format.
    private func begin(_ input: ByteBuffer) throws(HTTPFailure) -> Bool {
        guard phase == .beginning else { return true }
        hasInput = input.readableBytes > 0
        let start = input.readerIndex
        guard let first = input.getInteger(at: start, as: UInt8.self),
            let second = input.getInteger(at: start + 1, as: UInt8.self)
        else { return false }
        let hasHeader = first & 0x0F == 8 && (UInt16(first) << 8 | UInt16(second)) % 31 == 0
        let windowBits: Int32 = format == .gzip ? 15 + 16 : hasHeader ? 15 : -15
        guard zlib.initialize(stream.pointer, windowBits, "1", Int32(ZlibStream.size)) == Zlib.ok else {
            throw malformed("the decoder cannot begin")
        }
        phase = .content
        return true
    }

    private func inflate(_ input: inout ByteBuffer, _ output: inout ByteBuffer) -> Int32 {
        var result = Zlib.ok
        input.readWithUnsafeReadableBytes { bytes in
            stream.setInput(bytes)
            output.writeWithUnsafeMutableBytes(minimumWritableBytes: ContentDecoders.pieceLength) { free in
                stream.setOutput(free)
                result = zlib.inflate(stream.pointer, 0)
                return free.count - stream.freeOutput
            }
            return bytes.count - stream.unreadInput
        }
        return result
    }

    private func malformed(_ reason: String) -> HTTPFailure { ContentDecoders.malformed(format.rawValue, reason) }
}
