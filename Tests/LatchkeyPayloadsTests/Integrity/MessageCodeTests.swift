// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import Testing

import Latchkey
@testable import LatchkeyPayloads

@Suite("Codes of messages")
struct MessageCodeTests {
    private static let key = Data((0..<40).map { UInt8($0) })

    @Test("A code is the HMAC-SHA-256 of swift-crypto, in one or in parts", arguments: [0, 1, 63, 64, 65, 1000])
    func reference(_ count: Int) throws {
        let message = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7) }
        let expected = Array(HMAC<SHA256>.authenticationCode(for: message, using: SymmetricKey(data: Self.key)))
        let key = Self.key.sharedSecret()
        #expect(try MessageCode.code(of: message, key) == expected)
        let stream = try MessageCode.Stream(key)
        for part in stride(from: 0, to: count, by: 13) {
            Array(message[part..<min(count, part + 13)]).withUnsafeBytes { stream.update(with: $0) }
        }
        #expect(stream.finish() == expected)
        #expect(expected.count == MessageCode.byteCount)
    }

    @Test("A code that differs in a bit or in its length is not the code")
    func comparison() throws {
        let key = Self.key.sharedSecret()
        let code = try MessageCode.code(of: [1, 2, 3], key)
        #expect(try MessageCode.isCode(code, of: [1, 2, 3], key))
        #expect(try !MessageCode.isCode(code, of: [1, 2, 4], key))
        for index in code.indices {
            var changed = code
            changed[index] ^= 0x80
            #expect(try !MessageCode.isCode(changed, of: [1, 2, 3], key))
        }
        #expect(try !MessageCode.isCode(Array(code.dropLast()), of: [1, 2, 3], key))
        #expect(try !MessageCode.isCode([], of: [1, 2, 3], key))
        #expect(try !MessageCode.isCode(code + [0], of: [1, 2, 3], key))
    }

    @Test("A key of less than 32 bytes is refused", arguments: [0, 1, 16, 31])
    func shortKeys(_ count: Int) throws {
        let key = Data(count: count).sharedSecret()
        let error = #expect(throws: KeychainError.self) { try MessageCode.code(of: [], key) }
        #expect(error?.status == .keySizeNotAllowed)
    }
}
