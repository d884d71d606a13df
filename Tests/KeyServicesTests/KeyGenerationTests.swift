// SPDX-License-Identifier: Apache-2.0

import Crypto
import Dispatch
import KeychainModel
@testable import KeyServices
import SecretMemory
import Synchronization
import Testing

@Suite("Generated keys")
struct KeyGenerationTests {
    @Test(
        "Keys of a curve that many threads generate at once are all different, and each has the point of its scalar",
        arguments: [224, 256, 384, 521])
    func curves(_ bits: Int) throws {
        let kind = KeyKind(.ellipticCurve, bits: bits)
        let keys = Mutex<[SoftwareKey]>([])
        DispatchQueue.concurrentPerform(iterations: 32) { _ in
            guard let key = try? SoftwareKey.generate(kind) else { return }
            keys.withLock { $0.append(key) }
        }
        let generated = keys.withLock { $0 }
        #expect(generated.count == 32)
        #expect(Set(generated.map(\.publicKey.external)).count == 32)
        for key in generated {
            #expect(key.kind == kind)
            // Reading a key compares its point with its scalar.
            let external = try key.external()
            let copy = try external.withUnsafeBytes { (bytes) throws(KeychainError) in
                try SoftwareKey(external: bytes, type: .ellipticCurve)
            }
            #expect(copy.publicKey.external == key.publicKey.external)
        }
    }

    @Test("A generated key of P-256 is the key that swift-crypto reads from it")
    func otherLibrary() throws {
        let key = try SoftwareKey.generate(KeyKind(.ellipticCurve, bits: 256))
        let bytes = try key.external().withUnsafeBytes { Array($0) }
        let read = try P256.Signing.PrivateKey(x963Representation: bytes)
        #expect(Array(read.publicKey.x963Representation) == key.publicKey.external)
    }
}
