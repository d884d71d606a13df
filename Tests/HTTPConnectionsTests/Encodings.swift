// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import KeychainTesting
import Synchronization

/// Encoded content for servers, made by Python's zlib and by libbrotlienc.
enum Encodings {
    struct Unavailable: Error { let name: String }

    private static let made = Mutex<[String: [UInt8]]>([:])

    static func encoded(_ content: [UInt8], _ name: String) throws -> [UInt8] {
        if name == "br" { return try brotli(content) }
        let openssl = try OpenSSL()
        let script = [
            "gzip": "gzip.compress(d)", "x-gzip": "gzip.compress(d)", "deflate": "zlib.compress(d)",
            "raw": "zlib.compress(d)[2:-4]", "gzip, deflate": "zlib.compress(gzip.compress(d))",
            "members": "gzip.compress(d[:1000])+gzip.compress(b'')+gzip.compress(d[1000:])",
            "gzip, gzip": "gzip.compress(gzip.compress(d))",
        ][name]
        guard let script else { throw Unavailable(name: name) }
        let file = try openssl.file(content)
        return try openssl.output(
            ["-c", "import gzip,zlib,sys\nd=open('\(file)','rb').read()\nsys.stdout.buffer.write(\(script))"],
            program: "/usr/bin/python3")
    }

    /// Zeros that are encoded very small, made once.
    static func bomb(_ name: String) throws -> [UInt8] {
        if let bomb = made.withLock({ $0[name] }) { return bomb }
        let bomb = try encoded([UInt8](repeating: 0, count: 64 << 20), name)
        made.withLock { $0[name] = bomb }
        return bomb
    }

    private static func brotli(_ content: [UInt8]) throws -> [UInt8] {
        typealias Compress =
            @convention(c) (
                Int32, Int32, Int32, Int, UnsafePointer<UInt8>, UnsafeMutablePointer<Int>, UnsafeMutablePointer<UInt8>
            ) -> Int32
        guard let library = dlopen("libbrotlienc.so.1", RTLD_NOW), let symbol = dlsym(library, "BrotliEncoderCompress")
        else { throw Unavailable(name: "br") }
        // unsafeBitCast, because dlsym returns functions as data pointers.
        let compress = unsafeBitCast(symbol, to: Compress.self)
        var output = [UInt8](repeating: 0, count: content.count + 1024)
        var count = output.count
        guard compress(5, 22, 0, content.count, content, &count, &output) == 1 else { throw Unavailable(name: "br") }
        return Array(output.prefix(count))
    }
}
