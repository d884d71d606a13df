// SPDX-License-Identifier: Apache-2.0

import Foundation
import LinuxSystem
import OpenSSLCrypto
import Testing

@Suite("scrypt")
struct ScryptTests {
    @Test("The vectors of RFC 7914, §12")
    func vectors() throws {
        #expect(
            try derive("", "", exponent: 4, blockSize: 1, parallelism: 1)
                == "77d6576238657b203b19ca42c18a0497f16b4844e3074ae8dfdffa3fede21442"
                + "fcd0069ded0948f8326a753a0fc81f17e8d3e0fb2e0d3628cf35e20c38d18906")
        #expect(
            try derive("password", "NaCl", exponent: 10, blockSize: 8, parallelism: 16)
                == "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162"
                + "2eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640")
    }

    @Test("Invalid parameters are an error, not a trap")
    func impossible() {
        #expect(throws: OpenSSLError.self) { try derive("x", "y", exponent: 0, blockSize: 8, parallelism: 1) }
        #expect(throws: OpenSSLError.self) { try derive("x", "y", exponent: 10, blockSize: 0, parallelism: 1) }
        #expect(throws: OpenSSLError.self) { try derive("x", "y", exponent: 10, blockSize: 8, parallelism: 0) }
    }

    private func derive(_ password: String, _ salt: String, exponent: UInt8, blockSize: UInt32, parallelism: UInt32)
        throws -> String
    {
        var output = [UInt8](repeating: 0, count: 64)
        try output.withUnsafeMutableBytes { output in
            try Array(password.utf8).withUnsafeBytes { password in
                try Scrypt.derive(
                    password, salt: Array(salt.utf8), costExponent: exponent, blockSize: blockSize,
                    parallelism: parallelism, into: output)
            }
        }
        return Hexadecimal.text(output)
    }
}
