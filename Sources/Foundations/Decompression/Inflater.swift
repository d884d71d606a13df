// SPDX-License-Identifier: Apache-2.0

internal import CZlib

/// Decompresses untrusted data. The memory depends on the limit alone, not on the data.
public struct Inflater {
    private enum Format { case raw, gzip }

    /// Returns the content of raw deflate data (RFC 1951), as zip has it.
    ///
    /// - Parameter limit: the maximum number of bytes of the content.
    public static func raw(_ bytes: ArraySlice<UInt8>, limit: Int) throws(DecompressionError) -> [UInt8] {
        try content(of: bytes, .raw, limit: limit)
    }

    /// Returns the content of a gzip file (RFC 1952) with one or more members.
    ///
    /// - Parameter limit: the maximum number of bytes of the content.
    public static func gzip(_ bytes: [UInt8], limit: Int) throws(DecompressionError) -> [UInt8] {
        try content(of: bytes[...], .gzip, limit: limit)
    }

    private static func content(
        of bytes: ArraySlice<UInt8>, _ format: Format, limit: Int
    ) throws(DecompressionError) -> [UInt8] {
        var outcome = Result<[UInt8], DecompressionError>.success([])
        // zlib counts the input in 32 bits.
        guard bytes.count <= Int(UInt32.max) else { throw .tooLong }
        bytes.withUnsafeBufferPointer { input in
            outcome = Result { () throws(DecompressionError) in try inflate(input, format, limit) }
        }
        return try outcome.get()
    }

    private static func inflate(
        _ input: UnsafeBufferPointer<UInt8>, _ format: Format, _ limit: Int
    ) throws(DecompressionError) -> [UInt8] {
        var stream = z_stream()
        let code = format == .raw ? CZlib_begin_raw(&stream) : CZlib_begin_gzip(&stream)
        guard code == Z_OK else { throw .noMemory }
        defer { inflateEnd(&stream) }
        // zlib does not write to its input.
        stream.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
        stream.avail_in = UInt32(input.count)
        var (content, chunk) = ([UInt8](), [UInt8](repeating: 0, count: 65_536))
        while true {
            let (code, count) = chunk.withUnsafeMutableBufferPointer { buffer in
                stream.next_out = buffer.baseAddress
                stream.avail_out = UInt32(buffer.count)
                let code = CZlib.inflate(&stream, Z_NO_FLUSH)
                return (code, buffer.count - Int(stream.avail_out))
            }
            guard count <= limit - content.count else { throw .tooLong }
            content += chunk.prefix(count)
            switch code {
            case Z_STREAM_END where format == .gzip && startsMember(stream):
                guard inflateReset(&stream) == Z_OK else { throw .noMemory }
            case Z_STREAM_END: return content
            case Z_OK: continue
            case Z_MEM_ERROR: throw .noMemory
            case Z_BUF_ERROR: throw .incomplete
            default: throw .invalid
            }
        }
    }

    /// Whether another member of the gzip file follows; other bytes at the end are no content.
    private static func startsMember(_ stream: z_stream) -> Bool {
        stream.avail_in >= 2 && stream.next_in[0] == 0x1F && stream.next_in[1] == 0x8B
    }
}

/// Why data could not be decompressed.
public enum DecompressionError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The content, or the data, is longer than the limit.
    case tooLong
    /// The data ends before its content does.
    case incomplete
    /// The data has another format, or its check sum is wrong.
    case invalid
    case noMemory

    public var description: String {
        switch self {
        case .tooLong: "the content is longer than the limit"
        case .incomplete: "the data is cut off"
        case .invalid: "the data is damaged"
        case .noMemory: "not enough memory"
        }
    }
}
