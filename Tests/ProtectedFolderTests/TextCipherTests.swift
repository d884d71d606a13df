// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import ProtectedFolder
import SecretMemory
import Testing
import UserspaceFileSystem

@Suite struct TextCipherTests {
    private let secret = SharedSecret(copying: [UInt8](repeating: 5, count: 64))

    @Test("A text opens as it was, and no changed one does", arguments: [0, 1, 16, 175, 3000])
    func roundTrip(_ length: Int) throws {
        let cipher = TextCipher(.name, secret)
        let text = sampleBytes(length)
        let sealed = try #require(cipher.seal(text))
        #expect(sealed.count == length + TextCipher.overhead)
        #expect(cipher.seal(text) == sealed)
        #expect(cipher.open(sealed) == text)
        #expect(TextCipher(.target, secret).open(sealed) == nil)
        for place in stride(from: 0, to: sealed.count, by: max(1, sealed.count / 20)) {
            var changed = sealed
            changed[place] ^= 1
            #expect(cipher.open(changed) == nil)
        }
        #expect(cipher.open(Array(sealed.dropLast())) == nil)
    }

    @Test("Values of attributes are bound to their names")
    func values() throws {
        let texts = FolderTexts(secret)
        let random = [UInt8](repeating: 1, count: 16)
        let stored = try texts.stored(value: [1, 2], of: Array("user.a".utf8), random: random)
        #expect(try texts.value(stored, of: Array("user.a".utf8)) == [1, 2])
        #expect(throws: FileSystemError.inputOutput) { try texts.value(stored, of: Array("user.b".utf8)) }
    }
}
