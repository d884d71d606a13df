// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import LinuxSystem
import SecretMemory
import Testing

@Suite("Writing PEM")
struct PEMTextTests {
    @Test("A block has full lines of 64 characters and is read again", arguments: [0, 1, 47, 48, 49, 96, 200])
    func lines(_ count: Int) throws {
        let content = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        let text = PEMText.of(content, label: "A B")
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.first == "-----BEGIN A B-----" && lines.suffix(2) == ["-----END A B-----", ""])
        let encoded = lines.dropFirst().dropLast(2)
        #expect(encoded.dropLast().allSatisfy { $0.utf8.count == 64 })
        #expect(encoded.allSatisfy { 1...64 ~= $0.utf8.count })
        #expect(encoded.joined() == Base64.text(content))
        try Array(text.utf8).withUnsafeBytes { bytes in
            let block = try #require(PEMBlocks(bytes).blocks.first)
            #expect(block.label == "A B" && block.defect == nil)
            #expect(Base64.bytes(bytes[block.content], skipsWhiteSpace: true) == content)
        }
    }

    @Test("A secret has lines of the length that is asked for")
    func secret() {
        let block = PEMText.of(SharedSecret(copying: [UInt8](repeating: 0xFF, count: 60)), label: "KEY", lineLength: 70)
        let text = block.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        let slashes = String(repeating: "/", count: 70)
        #expect(text == "-----BEGIN KEY-----\n\(slashes)\n//////////\n-----END KEY-----\n")
    }
}
