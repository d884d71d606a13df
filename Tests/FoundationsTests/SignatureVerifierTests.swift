// SPDX-License-Identifier: Apache-2.0

import Dispatch
import LinuxSystem
import Synchronization
import Testing

@testable import OpenSSLCrypto

@Suite("Signature verifier")
struct SignatureVerifierTests {
    @Test("A verifier accepts valid signatures and refuses others, in any order, from many threads and for every hash")
    func verifies() throws {
        let key = try AsymmetricKey.generateRSA(bits: 2048) { false }
        let verifier = SignatureVerifier(key, padding: .pkcs1)
        let samples = try [HashFunction.sha256, .sha384, .sha512].map { hash in
            let digest = [UInt8](repeating: UInt8(hash.byteCount), count: hash.byteCount)
            let signature = try digest.withRaw { (bytes) throws(OpenSSLError) in
                try key.signature(of: bytes, hash: hash, padding: .pkcs1)
            }
            return (hash: hash, digest: digest, signature: signature)
        }
        let wrong = Atomic(0)
        DispatchQueue.concurrentPerform(iterations: 64) { number in
            let sample = samples[number % samples.count]
            var signature = sample.signature
            // Every third signature has a wrong bit, and every fifth is too short.
            if number % 3 == 0 { signature[number] ^= 1 }
            if number % 5 == 0 { signature.removeLast() }
            let isValid = number % 3 != 0 && number % 5 != 0
            let found = signature.withRaw { signature in
                sample.digest.withRaw { digest in
                    (try? verifier.isSignature(signature, of: digest, hash: sample.hash)) ?? !isValid
                }
            }
            if found != isValid { wrong.add(1, ordering: .relaxed) }
        }
        #expect(wrong.load(ordering: .relaxed) == 0)
        // A signature of one hash is not one of another.
        let found = samples[0].signature.withRaw { signature in
            samples[1].digest.withRaw { digest in try? verifier.isSignature(signature, of: digest, hash: .sha384) }
        }
        #expect(found == false)
    }

    @Test("An operation is prepared once for each hash, also if a signature is refused")
    func isPreparedOnce() throws {
        let key = try AsymmetricKey.generateRSA(bits: 2048) { false }
        let verifier = SignatureVerifier(key, padding: .pkcs1)
        let digest = [UInt8](repeating: 7, count: 32)
        let signature = try digest.withRaw { (bytes) throws(OpenSSLError) in
            try key.signature(of: bytes, hash: .sha256, padding: .pkcs1)
        }
        var prepared: ObjectIdentifier?
        // Too short, above the modulus, and without the padding.
        let forged = [Array(signature.dropLast()), [0xFF] + signature.dropFirst(), signature.map { $0 ^ 1 }]
        for each in [signature] + forged + [signature, signature] {
            let found = try each.withRaw { (signature) throws(OpenSSLError) in
                try digest.withRaw { (digest) throws(OpenSSLError) in
                    try verifier.isSignature(signature, of: digest, hash: .sha256)
                }
            }
            #expect(found == (each == signature))
            let kept = verifier.idle.withLock { $0[.sha256].map { ObjectIdentifier($0) } }
            #expect(kept != nil && kept == prepared ?? kept)
            prepared = kept
        }
    }
}

extension [UInt8] {
    fileprivate func withRaw<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try withUnsafeBufferPointer { (pointer) throws(Failure) in try body(UnsafeRawBufferPointer(pointer)) }
    }
}
