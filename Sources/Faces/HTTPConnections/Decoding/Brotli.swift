// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// The functions of libbrotlidec (brotli/decode.h).
struct Brotli: Sendable {
    typealias Decoder = OpaquePointer
    typealias Decode =
        @convention(c) (
            Decoder, UnsafeMutablePointer<Int>, UnsafeMutablePointer<UnsafePointer<UInt8>?>, UnsafeMutablePointer<Int>,
            UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, UnsafeMutablePointer<Int>?
        ) -> Int32

    let create: @convention(c) (OpaquePointer?, OpaquePointer?, OpaquePointer?) -> Decoder?
    let decode: Decode
    let destroy: @convention(c) (Decoder) -> Void

    /// Nil if the library is not installed.
    static let shared = Brotli()

    private init?() {
        guard let library = DynamicLibrary("libbrotlidec.so.1"),
            let create = library.function(
                "BrotliDecoderCreateInstance",
                as: (@convention(c) (OpaquePointer?, OpaquePointer?, OpaquePointer?) -> Decoder?).self),
            let decode = library.function("BrotliDecoderDecompressStream", as: Decode.self),
            let destroy = library.function(
                "BrotliDecoderDestroyInstance", as: (@convention(c) (Decoder) -> Void).self)
        else { return nil }
        (self.create, self.decode, self.destroy) = (create, decode, destroy)
    }

    /// Results of `decode`.
    static let (success, needsInput, needsOutput): (Int32, Int32, Int32) = (1, 2, 3)
}

/// Decodes brotli (RFC 7932).
final class BrotliDecoder: ContentDecoder {
    private let brotli: Brotli
    private let decoder: Brotli.Decoder?
    private var (hasBegun, hasEnded) = (false, false)

    init(_ brotli: Brotli) {
        self.brotli = brotli
        decoder = brotli.create(nil, nil, nil)
    }

    deinit { if let decoder { brotli.destroy(decoder) } }

    func decode(_ input: inout ByteBuffer) throws(HTTPFailure) -> ByteBuffer? {
        guard let decoder else { throw ContentDecoders.malformed("br", "the decoder cannot begin") }
        guard !hasEnded else {
            guard input.readableBytes == 0 else {
                throw ContentDecoders.malformed("br", "there are bytes after its end")
            }
            return nil
        }
        if input.readableBytes > 0 { hasBegun = true }
        guard hasBegun else { return nil }
        var output = ByteBufferAllocator().buffer(capacity: ContentDecoders.pieceLength)
        switch decode(decoder, &input, &output) {
        case Brotli.success: hasEnded = true
        case Brotli.needsInput, Brotli.needsOutput: break
        default: throw ContentDecoders.malformed("br", "it is damaged")
        }
        return output.readableBytes > 0 ? output : nil
    }

    func finish() throws(HTTPFailure) {
        if hasBegun, !hasEnded { throw ContentDecoders.malformed("br", "it ends early") }
    }

    private func decode(_ decoder: Brotli.Decoder, _ input: inout ByteBuffer, _ output: inout ByteBuffer) -> Int32 {
        var result: Int32 = 0
        input.readWithUnsafeReadableBytes { bytes in
            var (unread, next) = (bytes.count, bytes.bindMemory(to: UInt8.self).baseAddress)
            output.writeWithUnsafeMutableBytes(minimumWritableBytes: ContentDecoders.pieceLength) { space in
                var (free, position) = (space.count, space.bindMemory(to: UInt8.self).baseAddress)
                result = brotli.decode(decoder, &unread, &next, &free, &position, nil)
                return space.count - free
            }
            return bytes.count - unread
        }
        return result
    }
}
