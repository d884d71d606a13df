// SPDX-License-Identifier: Apache-2.0

import SecretMemory
import TPMTesting
import Testing
import TrustedPlatformModule

@Suite("Stored objects of a TPM", .enabled(if: SoftwareTPM.isInstalled))
struct TPMObjectTests {
    private let authorization = SharedSecret(.random(count: 32))

    @Test("An object with any byte flipped, cut off or added is refused, by the reader or by the TPM")
    func everyByte() throws {
        let tpm = try SoftwareTPM()
        let module = TrustedPlatformModule(tpm.address)
        defer { module.close() }
        let digest = [UInt8](repeating: 7, count: 32)
        let bytes = try module.createKey(authorization: authorization).encoded
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= 1 << (index % 8)
            #expect(throws: TPMError.self, "byte \(index)") {
                try module.sign(digest, with: try TPMObject(decoding: changed), authorization: authorization)
            }
            #expect(throws: TPMError.self) { try TPMObject(decoding: Array(bytes.prefix(index))) }
        }
        #expect(throws: TPMError.self) { try TPMObject(decoding: bytes + [0]) }
        #expect(throws: TPMError.newerVersion(found: 2, known: 1)) { try TPMObject(decoding: [2] + bytes.dropFirst()) }
        #expect(throws: TPMError.self) { try TPMObject(decoding: [UInt8](repeating: 1, count: 5000)) }
        #expect(try module.sign(digest, with: try TPMObject(decoding: bytes), authorization: authorization).count == 64)
    }

    @Test("An index with another number or length is refused")
    func indices() throws {
        for count in [0, 1, 37, 39] {
            #expect(throws: TPMError.self) { try NonvolatileIndex(decoding: .init(repeating: 1, count: count)) }
        }
        // Outside of Latchkey's numbers: it must not remove an index of others.
        #expect(throws: TPMError.self) {
            try NonvolatileIndex(decoding: [1, 0, 0, 1] + .init(repeating: 0, count: 34))
        }
    }
}
