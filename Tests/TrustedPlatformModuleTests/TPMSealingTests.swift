// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import SecretMemory
import TPMTesting
import Testing
import TrustedPlatformModule

@Suite("Secrets and counters of a TPM", .enabled(if: SoftwareTPM.isInstalled))
struct TPMSealingTests {
    private let secret = SharedSecret(.random(count: 32))
    private let authorization = SharedSecret(.random(count: 32))

    @Test("A sealed secret opens with its authorization alone, after a restart, too")
    func seal() throws {
        let tpm = try SoftwareTPM()
        let module = TrustedPlatformModule(tpm.address)
        defer { module.close() }
        let object = try TPMObject(decoding: module.seal(secret, authorization: authorization).encoded)
        #expect(try module.unseal(object, authorization: authorization) == secret)
        #expect(throws: TPMError.wrongAuthorization) {
            try module.unseal(object, authorization: SharedSecret(.random(count: 32)))
        }
        tpm.stop()
        try tpm.start()
        #expect(try module.unseal(object, authorization: authorization) == secret)
        #expect(throws: TPMError.self) {
            try module.seal(SharedSecret(.random(count: 65)), authorization: authorization)
        }
        #expect(throws: TPMError.self) { try module.seal(SharedSecret(copying: []), authorization: authorization) }
    }

    @Test("A secret that is sealed to PCRs does not open after one of them changed")
    func registers() throws {
        try #require(SoftwareTPM.hasTools)
        let tpm = try SoftwareTPM(hasTools: true)
        let module = TrustedPlatformModule(tpm.address)
        let registers = try RegisterSelection([7, 16])
        let object = try module.seal(secret, to: registers)
        #expect(try module.unseal(object, with: registers) == secret)
        #expect(throws: TPMError.self) { try module.unseal(object, authorization: authorization) }
        #expect(throws: TPMError.policyFailed) { try module.unseal(object, with: try RegisterSelection([7])) }
        module.close()
        let digest = String(repeating: "5a", count: 32)
        #expect(try tpm.tool("tpm2_pcrextend", "16:sha256=\(digest)").status == 0)
        #expect(throws: TPMError.policyFailed) { try module.unseal(object, with: registers) }
        module.close()
        #expect(try tpm.tool("tpm2_pcrreset", "16").status == 0)
        #expect(try module.unseal(object, with: registers) == secret)
        module.close()
        for numbers in [[], Set<UInt8>([24]), Set<UInt8>(0..<9)] {
            #expect(throws: TPMError.invalidInput("expected 1 to 8 PCRs from 0 to 23")) {
                try RegisterSelection(numbers)
            }
        }
    }

    @Test("A counter counts up only, and one that is defined again begins above")
    func counter() throws {
        let tpm = try SoftwareTPM()
        let module = TrustedPlatformModule(tpm.address)
        defer { module.close() }
        let (counter, first) = try module.createCounter(authorization: authorization)
        for step in 1...5 {
            #expect(try module.increment(counter, authorization: authorization) == first + UInt64(step))
        }
        let index = try NonvolatileIndex(decoding: counter.encoded)
        #expect(try module.value(of: index, authorization: authorization) == first + 5)
        try module.remove(index)
        #expect(throws: TPMError.noIndex(index.number)) { try module.value(of: index, authorization: authorization) }
        let (again, value) = try module.createCounter(authorization: authorization)
        #expect(again.number == index.number)
        #expect(value > first + 5)
    }

    @Test("A PIN is refused after the limit, the right one, too; the right one before resets the count")
    func limit() throws {
        let tpm = try SoftwareTPM()
        let module = TrustedPlatformModule(tpm.address)
        defer { module.close() }
        let pin = SharedSecret(.random(count: 32))
        let limited = try module.seal(secret, pin: pin, limit: 3)
        for _ in 0..<4 {
            for count in 1...2 {
                #expect(throws: TPMError.wrongAuthorization) {
                    try module.unseal(limited, pin: SharedSecret(.random(count: 32)))
                }
                #expect(try module.attempts(of: limited) == AttemptCount(failed: UInt32(count), limit: 3))
            }
            #expect(try module.unseal(limited, pin: pin) == secret)
            #expect(try module.attempts(of: limited).failed == 0)
        }
        for _ in 0..<3 {
            #expect(throws: TPMError.wrongAuthorization) {
                try module.unseal(limited, pin: SharedSecret(.random(count: 32)))
            }
        }
        for pin in [pin, SharedSecret(.random(count: 32)), pin] {
            #expect(throws: TPMError.noAttemptsLeft) { try module.unseal(limited, pin: pin) }
        }
        // The count survives a loss of power.
        tpm.stop()
        try tpm.start()
        #expect(throws: TPMError.noAttemptsLeft) { try module.unseal(limited, pin: pin) }
        #expect(try module.attempts(of: limited) == AttemptCount(failed: 3, limit: 3))
    }

    @Test("The owner of the TPM can neither reset the count nor put another index in its place")
    func replacedIndex() throws {
        try #require(SoftwareTPM.hasTools)
        let tpm = try SoftwareTPM(hasTools: true)
        let module = TrustedPlatformModule(tpm.address)
        let limited = try module.seal(secret, pin: SharedSecret(.random(count: 32)), limit: 3)
        #expect(throws: TPMError.wrongAuthorization) {
            try module.unseal(limited, pin: SharedSecret(.random(count: 32)))
        }
        module.close()
        let number = "0x\(String(limited.index.number, radix: 16))"
        try Data([0, 0, 0, 0, 0, 0, 0, 9]).write(to: URL(filePath: "\(tpm.directory.path)/zero"))
        #expect(try tpm.tool("tpm2_nvwrite", "-C", "o", "-i", "zero", number).status != 0)
        #expect(try module.attempts(of: limited).failed == 1)
        module.close()
        // With a PIN of the attacker, and all that can be copied from the definition.
        #expect(try tpm.tool("tpm2_nvundefine", "-C", "o", number).status == 0)
        let attributes = "ownerread|ownerwrite|no_da|nt=pinfail"
        #expect(
            try tpm.tool("tpm2_nvdefine", "-C", "o", "-s", "8", "-p", "hex:00", "-a", attributes, number).status == 0)
        #expect(try tpm.tool("tpm2_nvwrite", "-C", "o", "-i", "zero", number).status == 0)
        #expect(throws: TPMError.foreignIndex(limited.index.number)) {
            try module.unseal(limited, pin: SharedSecret(copying: [0]))
        }
        module.close()
    }
}
