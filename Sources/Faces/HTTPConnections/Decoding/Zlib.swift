// SPDX-License-Identifier: Apache-2.0

/// The functions of zlib that decode (zlib.h).
struct Zlib: Sendable {
    typealias Stream = UnsafeMutableRawPointer

    let initialize: @convention(c) (Stream, Int32, UnsafePointer<CChar>, Int32) -> Int32
    let inflate: @convention(c) (Stream, Int32) -> Int32
    let reset: @convention(c) (Stream) -> Int32
    let end: @convention(c) (Stream) -> Int32

    /// Nil if the library is not installed.
    static let shared = Zlib()

    private init?() {
        guard let library = DynamicLibrary("libz.so.1"),
            let initialize = library.function(
                "inflateInit2_", as: (@convention(c) (Stream, Int32, UnsafePointer<CChar>, Int32) -> Int32).self),
            let inflate = library.function("inflate", as: (@convention(c) (Stream, Int32) -> Int32).self),
            let reset = library.function("inflateReset", as: (@convention(c) (Stream) -> Int32).self),
            let end = library.function("inflateEnd", as: (@convention(c) (Stream) -> Int32).self)
        else { return nil }
        (self.initialize, self.inflate, self.reset, self.end) = (initialize, inflate, reset, end)
    }

    /// Results of `inflate`.
    static let (ok, streamEnd, bufferError): (Int32, Int32, Int32) = (0, 1, -5)
}

/// `z_stream`; zlib keeps it the same in all versions 1.x. The offsets are those of a system with 64-bit pointers.
final class ZlibStream {
    let pointer = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
    static let size = 112

    init() { pointer.initializeMemory(as: UInt8.self, repeating: 0, count: Self.size) }
    deinit { pointer.deallocate() }

    func setInput(_ bytes: UnsafeRawBufferPointer) {
        pointer.storeBytes(of: bytes.baseAddress, toByteOffset: 0, as: UnsafeRawPointer?.self)
        pointer.storeBytes(of: UInt32(clamping: bytes.count), toByteOffset: 8, as: UInt32.self)
    }
    func setOutput(_ bytes: UnsafeMutableRawBufferPointer) {
        pointer.storeBytes(of: bytes.baseAddress, toByteOffset: 24, as: UnsafeMutableRawPointer?.self)
        pointer.storeBytes(of: UInt32(clamping: bytes.count), toByteOffset: 32, as: UInt32.self)
    }
    var unreadInput: Int { Int(pointer.load(fromByteOffset: 8, as: UInt32.self)) }
    var freeOutput: Int { Int(pointer.load(fromByteOffset: 32, as: UInt32.self)) }
}
