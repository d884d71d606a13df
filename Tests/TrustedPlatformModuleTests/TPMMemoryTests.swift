// SPDX-License-Identifier: Apache-2.0

import enum Crypto.P256
import Foundation
import KeychainTesting
import SecretMemory
import Synchronization
import TPMTesting
import Testing
@testable import TrustedPlatformModule

/// The secrets that tpm2-tss and this module leave in memory.
@Suite("Secrets of a TPM in memory", .serialized, .enabled(if: SoftwareTPM.isInstalled))
struct TPMMemoryTests {
    @Test(
        "After an operation no secret is in ordinary memory, except that a session keeps the last authorization value until its end"
    )
    func search() throws {
        let tpm = try SoftwareTPM()
        let module = TrustedPlatformModule(tpm.address)
        let memory = ProcessMemory()
        func secret(_ name: String) -> SharedSecret {
            let secret = SecretBytes.random(count: 32)
            memory.remember(name, secret)
            return SharedSecret(secret)
        }
        try seal(module, secret)
        try agree(module, secret, memory)
        // Control: a marker in ordinary memory must be found there.
        let control = Array("a marker that lies in ordinary memory, thirty-two bytes and more".utf8)
        memory.remember("control", control)
        #expect(memory.search().ordinary.isSubset(of: ["control", "authorization of the key"]))
        module.close()
        #expect(memory.search().ordinary == ["control"])
        withExtendedLifetime(control) {}
    }

    @Test("Memory that other threads allocate is zero while operations begin and end")
    func zeros() {
        let isDone = Atomic(false)
        let thread = Thread {
            while !isDone.load(ordering: .acquiring) {
                FreedMemory.beginOverwriting()
                FreedMemory.endOverwriting()
            }
        }
        thread.start()
        defer { isDone.store(true, ordering: .releasing) }
        // Large enough for memory of its own, because calloc does not clear that again.
        let count = 40 << 20
        for _ in 0..<80 {
            guard let block = calloc(1, count) else { continue }
            defer { free(block) }
            #expect(block.load(as: UInt8.self) == 0 && memcmp(block, block + 1, count - 1) == 0)
        }
    }

    private func seal(_ module: TrustedPlatformModule, _ secret: (String) -> SharedSecret) throws {
        let (sealed, authorization) = (secret("sealed"), secret("authorization of the sealed"))
        let object = try module.seal(sealed, authorization: authorization)
        #expect(try module.unseal(object, authorization: authorization) == sealed)
        let (limited, pin) = (secret("sealed to a PIN"), secret("PIN"))
        let index = try module.seal(limited, pin: pin, limit: 10)
        #expect(throws: TPMError.wrongAuthorization) { try module.unseal(index, pin: secret("wrong PIN")) }
        #expect(try module.unseal(index, pin: pin) == limited)
        let counting = secret("authorization of the counter")
        let counter = try module.createCounter(authorization: counting)
        #expect(try module.increment(counter.index, authorization: counting) == counter.value + 1)
    }

    private func agree(
        _ module: TrustedPlatformModule, _ secret: (String) -> SharedSecret, _ memory: ProcessMemory
    ) throws {
        let authorization = secret("authorization of the key")
        let key = try module.createKey(authorization: authorization)
        _ = try module.sign([UInt8](repeating: 7, count: 32), with: key, authorization: authorization)
        let other = P256.KeyAgreement.PrivateKey()
        let agreed = try module.agree(
            with: Array(other.publicKey.x963Representation), by: key, authorization: authorization)
        agreed.withUnsafeBytes { memory.remember("agreed", SecretBytes(copying: $0)) }
    }
}
