// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import KeychainTesting
import SecretMemory
import TPMTesting
import Testing
import TrustedPlatformModule

@Suite("Keys in a TPM", .enabled(if: SoftwareTPM.isInstalled))
struct TPMKeyTests {
    private let authorization = SharedSecret(.random(count: 32))

    @Test("Signatures verify with another implementation, also those with short numbers")
    func sign() throws {
        let tpm = try SoftwareTPM()
        let module = TrustedPlatformModule(tpm.address)
        defer { module.close() }
        let key = try module.createKey(authorization: authorization)
        let publicKey = try P256.Signing.PublicKey(x963Representation: key.publicPoint())
        // One signature in 128 has a number with a leading zero, and the TPM leaves this zero out.
        for number in 0..<300 {
            let digest = SHA256.hash(data: Data("\(number)".utf8))
            let signature = try module.sign(Array(digest), with: key, authorization: authorization)
            #expect(signature.count == 64)
            #expect(publicKey.isValidSignature(try .init(rawRepresentation: signature), for: digest))
        }
    }

    @Test("Agreements are those of another implementation")
    func agree() throws {
        let tpm = try SoftwareTPM()
        let module = TrustedPlatformModule(tpm.address)
        defer { module.close() }
        let key = try module.createKey(authorization: authorization)
        let publicKey = try P256.KeyAgreement.PublicKey(x963Representation: key.publicPoint())
        for _ in 0..<20 {
            let other = P256.KeyAgreement.PrivateKey()
            let point = Array(other.publicKey.x963Representation)
            let agreed = try module.agree(with: point, by: key, authorization: authorization)
            let expected = try other.sharedSecretFromKeyAgreement(with: publicKey)
            #expect(agreed.withUnsafeBytes { Array($0) } == expected.withUnsafeBytes { Array($0) })
        }
    }

    @Test("A point that is not on the curve is refused, and so is one of another form")
    func invalidPoint() throws {
        let tpm = try SoftwareTPM()
        let module = TrustedPlatformModule(tpm.address)
        defer { module.close() }
        let key = try module.createKey(authorization: authorization)
        var point = try key.publicPoint()
        point[64] ^= 1
        for wrong in [point, Array(point.dropLast()), [], [2] + point.dropFirst()] {
            let error = #expect(throws: TPMError.self) {
                try module.agree(with: wrong, by: key, authorization: authorization)
            }
            guard case .invalidInput = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
        #expect(throws: TPMError.invalidInput("the TPM signs 32 bytes, found 31")) {
            try module.sign(.init(repeating: 1, count: 31), with: key, authorization: authorization)
        }
    }

    @Test("A wrong authorization is refused any number of times, and locks nothing out")
    func wrongAuthorization() throws {
        let tpm = try SoftwareTPM()
        let module = TrustedPlatformModule(tpm.address)
        defer { module.close() }
        let key = try module.createKey(authorization: authorization)
        let digest = [UInt8](repeating: 7, count: 32)
        let before = try module.properties().lockoutCount
        for _ in 0..<40 {
            #expect(throws: TPMError.wrongAuthorization) {
                try module.sign(digest, with: key, authorization: SharedSecret(.random(count: 32)))
            }
        }
        #expect(try module.properties().lockoutCount == before)
        #expect(try module.sign(digest, with: key, authorization: authorization).count == 64)
    }

    @Test("A key is of no use in another TPM, nor in its own after that was cleared")
    func foreign() throws {
        let tpm = try SoftwareTPM(hasTools: true)
        let module = TrustedPlatformModule(tpm.address)
        let key = try TPMObject(decoding: module.createKey(authorization: authorization).encoded)
        let digest = [UInt8](repeating: 7, count: 32)
        #expect(try module.sign(digest, with: key, authorization: authorization).count == 64)
        let other = try SoftwareTPM()
        let otherModule = TrustedPlatformModule(other.address)
        #expect(throws: TPMError.foreign) { try otherModule.sign(digest, with: key, authorization: authorization) }
        otherModule.close()
        module.close()
        guard SoftwareTPM.hasTools else { return }
        #expect(try tpm.tool("tpm2_clear", "-c", "p").status == 0)
        #expect(throws: TPMError.foreign) { try module.sign(digest, with: key, authorization: authorization) }
        module.close()
    }

    @Test("The TPM refuses to duplicate a key, and duplicates one without the fixed attributes")
    func duplicate() throws {
        try #require(SoftwareTPM.hasTools)
        let tpm = try SoftwareTPM(hasTools: true)
        // The storage key is persistent here, so that tpm2-tools find it.
        let attributes = "fixedtpm|fixedparent|sensitivedataorigin|userwithauth|noda|restricted|decrypt"
        #expect(
            try tpm.tool(
                "tpm2_createprimary", "-C", "o", "-c", "srk.ctx", "-g", "sha256", "-G", "ecc256:null:aes128cfb", "-a",
                attributes
            ).status == 0)
        #expect(try tpm.tool("tpm2_evictcontrol", "-C", "o", "-c", "srk.ctx", "0x81000001").status == 0)
        let module = TrustedPlatformModule(tpm.address)
        let key = try module.createKey(authorization: authorization)
        #expect(try module.sign(.init(repeating: 7, count: 32), with: key, authorization: authorization).count == 64)
        module.close()
        func duplicate(_ name: String) throws -> Executable.Outcome {
            let load = try tpm.tool(
                "tpm2_load", "-C", "0x81000001", "-u", "\(name).pub", "-r", "\(name).priv", "-c", "\(name).ctx")
            #expect(load.status == 0, "\(load.output)")
            #expect(try tpm.tool("tpm2_flushcontext", "-t").status == 0)
            #expect(try tpm.tool("tpm2_startauthsession", "-S", "s.ctx", "--policy-session").status == 0)
            #expect(
                try tpm.tool("tpm2_policycommandcode", "-S", "s.ctx", "-L", "dup.policy", "TPM2_CC_Duplicate").status
                    == 0)
            let outcome = try tpm.tool(
                "tpm2_duplicate", "-C", "null", "-c", "\(name).ctx", "-G", "null", "-p", "session:s.ctx", "-r",
                "dup.priv", "-s", "dup.seed")
            _ = try tpm.tool("tpm2_flushcontext", "s.ctx")
            _ = try tpm.tool("tpm2_flushcontext", "-t")
            return outcome
        }
        try Data(key.areas.publicArea).write(to: URL(filePath: "\(tpm.directory.path)/key.pub"))
        try Data(key.areas.privateArea).write(to: URL(filePath: "\(tpm.directory.path)/key.priv"))
        #expect(try duplicate("key").status != 0)
        #expect(!FileManager.default.fileExists(atPath: "\(tpm.directory.path)/dup.priv"))
        let described = try tpm.tool("tpm2_readpublic", "-c", "key.ctx")
        _ = try tpm.tool("tpm2_flushcontext", "-t")
        #expect(
            described.output.contains(
                "value: fixedtpm|fixedparent|sensitivedataorigin|userwithauth|noda|decrypt|sign\n"),
            "\(described.output)")
        // With these attributes the TPM refuses also a key with a policy that allows it.
        let fixed = try tpm.tool(
            "tpm2_create", "-C", "0x81000001", "-G", "ecc256", "-u", "fixed.pub", "-r", "fixed.priv", "-L",
            "dup.policy",
            "-a", "fixedtpm|fixedparent|sensitivedataorigin|userwithauth|sign")
        #expect(fixed.status == 0, "\(fixed.output)")
        let refused = try duplicate("fixed")
        #expect(refused.status != 0 && refused.output.contains("attributes"), "\(refused.output)")
        // The control: the same commands export a key without the fixed attributes.
        #expect(
            try tpm.tool(
                "tpm2_create", "-C", "0x81000001", "-G", "ecc256", "-u", "free.pub", "-r", "free.priv", "-L",
                "dup.policy", "-a", "sensitivedataorigin|userwithauth|sign"
            ).status == 0)
        let allowed = try duplicate("free")
        #expect(allowed.status == 0, "\(allowed.output)")
        #expect(FileManager.default.fileExists(atPath: "\(tpm.directory.path)/dup.priv"))
    }
}
