// SPDX-License-Identifier: Apache-2.0

import CertificateTrust
import Crypto
import Foundation
import HardwareSecurity
import KeyAttestation
import KeychainModel
import KeychainTesting
import Latchkey
import LatchkeyClient
import LatchkeyOperations
import LatchkeyService
import SecretMemory
import TPMTesting
import Testing
import TrustedPlatformModule

/// Proving that a key is in a TPM, with a certificate of its maker.
@Suite("Attestation", .enabled(if: TPMMaker.isInstalled))
struct AttestationTests {
    private static func der(_ path: String) throws -> Data {
        Data(try #require(CertificateFile.read(path).first).der)
    }

    private func verifier(_ maker: TPMMaker) throws -> EnclaveAttestationVerifier {
        try EnclaveAttestationVerifier(anchors: [Self.der(maker.root)], intermediates: [Self.der(maker.issuer)])
    }

    private func withTPM<Result>(
        _ maker: TPMMaker?, _ backend: Backend = .onDisk, _ body: () throws -> Result
    ) throws -> Result {
        let tpm = try SoftwareTPM(maker: maker)
        let module = TrustedPlatformModule(tpm.address)
        defer { module.close() }
        let keychain = try TestKeychain(backend, hardware: SecureHardware(module))
        return try keychain.run(groups: ["G1"]) { try body() }
    }

    @Test(
        "A verifier with the maker's certificate accepts a key of its TPM", .long, arguments: [Backend.onDisk, .daemon])
    func accepted(_ backend: Backend) throws {
        let maker = try TPMMaker()
        try withTPM(maker, backend) {
            let key = try SecureEnclave.P256.Signing.PrivateKey()
            let verifier = try verifier(maker)
            for _ in 1...2 {
                let challenge = try verifier.challenge(for: try key.attestationIdentity())
                let attested = try verifier.verify(
                    try key.attestation(answering: challenge.message), to: challenge)
                #expect(attested.publicKey == key.publicKey.x963Representation)
                #expect(try Certificate(der: Array(attested.endorsementCertificate)).extensions.defects.isEmpty)
            }
            // A named key of the keychain, too.
            let named = try Keychain.default.generate(P256SigningKey.self, tag: "t", inSecureEnclave: true)
            let challenge = try verifier.challenge(for: try named.attestationIdentity())
            let attested = try verifier.verify(try named.attestation(answering: challenge.message), to: challenge)
            #expect(try attested.publicKey == named.publicKey.x963)
        }
    }

    @Test("TPMs of other makers, without a certificate, and expired ones are not trusted", .long)
    func untrusted() throws {
        let (maker, other) = (try TPMMaker(), try TPMMaker())
        let first = try withTPM(other) { try SecureEnclave.P256.Signing.PrivateKey().attestationIdentity() }
        // The authority of the first maker exists only after its first TPM.
        let own = try withTPM(maker) { try SecureEnclave.P256.Signing.PrivateKey().attestationIdentity() }
        let verifier = try verifier(maker)
        _ = try verifier.challenge(for: own)
        for error in [
            #expect(throws: KeychainError.self) { try verifier.challenge(for: first) },
            #expect(throws: KeychainError.self) {
                try verifier.challenge(for: own, at: Date(timeIntervalSince1970: 0))
            },
        ] { #expect(error?.status == .notTrusted) }
        let bare = try withTPM(nil) { try SecureEnclave.P256.Signing.PrivateKey().attestationIdentity() }
        let missing = #expect(throws: KeychainError.self) { try verifier.challenge(for: bare) }
        #expect(missing?.status == .notTrusted && missing?.description.contains("no certificate") == true)
    }

    /// Attributes (TPMA_OBJECT) of an attestation key: fixedTPM, fixedParent, sensitiveDataOrigin,
    /// restricted, decrypt, sign.
    @Test("An attestation key with other attributes is refused", .long, arguments: [1, 4, 5, 16, 17, 18])
    func attestationKey(_ bit: Int) throws {
        let maker = try TPMMaker()
        let message = try withTPM(maker) { try SecureEnclave.P256.Signing.PrivateKey().attestationIdentity() }
        let verifier = try verifier(maker)
        _ = try verifier.challenge(for: message)
        let identity = try AttestationIdentity(decoding: Array(message))
        // After the type and the hash, big-endian.
        var area = identity.attestationKey
        area[7 - bit / 8] ^= 1 << (bit % 8)
        let changed = AttestationIdentity(
            certificates: identity.certificates, attestationObject: identity.attestationObject, attestationKey: area)
        let error = #expect(throws: KeychainError.self) { try verifier.challenge(for: Data(changed.encoded)) }
        #expect(error?.description.contains("the attestation key signs data that its TPM has not made") == true)
    }

    @Test(
        "A TPM that does not have the key of the certificate cannot answer; the right one can for another key only",
        .long)
    func foreign() throws {
        let maker = try TPMMaker()
        let thief = try SoftwareTPM(maker: maker)
        let thiefModule = TrustedPlatformModule(thief.address)
        defer { thiefModule.close() }
        let tpm = try SoftwareTPM(maker: maker)
        let module = TrustedPlatformModule(tpm.address)
        defer { module.close() }
        let authorization = SharedSecret(.random(count: 32))
        let verifier = AttestationVerifier(
            anchors: try CertificateFile.read(maker.root), intermediates: try CertificateFile.read(maker.issuer),
            at: Date().timeIntervalSince1970)
        let certificate = try #require(try module.endorsementCertificate())
        // The thief shows the certificate of the other TPM, with an attestation key of its own.
        let foreignSigner = try thiefModule.createAttestationKey()
        let claimed = try verifier.challenge(
            for: AttestationIdentity(
                certificates: [certificate], attestationObject: foreignSigner.encoded,
                attestationKey: foreignSigner.publicTemplate))
        #expect(throws: TPMError.foreign) {
            try thiefModule.activate(claimed.request.credential, seed: claimed.request.seed, for: foreignSigner)
        }
        // The other TPM does not open it either: the key is not in it.
        let signer = try module.createAttestationKey()
        #expect(throws: TPMError.foreign) {
            try module.activate(claimed.request.credential, seed: claimed.request.seed, for: signer)
        }
        #expect(throws: TPMError.foreign) {
            try module.activate(claimed.request.credential, seed: claimed.request.seed, for: foreignSigner)
        }
        // A key that signs anything is not an attestation key.
        let key = try module.createKey(authorization: authorization)
        #expect(throws: TPMError.self) {
            try module.certify(key, authorization: authorization, by: key, nonce: [1])
        }
        #expect(throws: AttestationError.self) {
            try verifier.challenge(
                for: AttestationIdentity(
                    certificates: [certificate], attestationObject: key.encoded, attestationKey: key.publicTemplate))
        }
        // Certifying needs the authorization value of the key.
        #expect(throws: TPMError.wrongAuthorization) {
            try module.certify(key, authorization: SharedSecret(.random(count: 32)), by: signer, nonce: [1])
        }
        #expect(throws: TPMError.self) {
            try module.certify(
                key, authorization: authorization, by: signer, nonce: [UInt8](repeating: 0, count: 33))
        }
    }

    @Test("A locked key is not certified")
    func locked() throws {
        let maker = try TPMMaker()
        try withTPM(maker) {
            let session = try KeychainClient.session()
            try session.setPasscode(TPMKeychain.passcode) { _, _ in }
            let key = try SecureEnclave.P256.Signing.PrivateKey(protection: .whenUnlockedThisDeviceOnly)
            let challenge = try verifier(maker).challenge(for: try key.attestationIdentity())
            try session.lock(immediately: true)
            let error = #expect(throws: KeychainError.self) { try key.attestation(answering: challenge.message) }
            #expect(error?.status == .interactionNotAllowed)
            try session.unlock(TPMKeychain.passcode) { _, _ in }
            _ = try verifier(maker).verify(try key.attestation(answering: challenge.message), to: challenge)
        }
    }

    @Test("tpm2-tools opens our credentials and makes ones that we open; it reads our statements")
    func tools() throws {
        try #require(SoftwareTPM.hasTools)
        let maker = try TPMMaker()
        let tpm = try SoftwareTPM(hasTools: true, maker: maker)
        let module = TrustedPlatformModule(tpm.address)
        let authorization = SharedSecret(.random(count: 32))
        for (tool, arguments) in [
            (
                "tpm2_createprimary",
                [
                    "-C", "o", "-g", "sha256", "-G", "ecc256:null:aes128cfb", "-a", Self.storageAttributes, "-c",
                    "srk.ctx",
                ]
            ),
            ("tpm2_evictcontrol", ["-C", "o", "-c", "srk.ctx", "0x81000001"]),
        ] { #expect(try tpm.run(tool, arguments).status == 0) }
        let signer = try module.createAttestationKey()
        let key = try module.createKey(authorization: authorization)
        let certificate = try #require(try module.endorsementCertificate())
        let verifier = AttestationVerifier(
            anchors: try CertificateFile.read(maker.root), intermediates: try CertificateFile.read(maker.issuer),
            at: Date().timeIntervalSince1970)
        let challenge = try verifier.challenge(
            for: AttestationIdentity(
                certificates: [certificate], attestationObject: signer.encoded, attestationKey: signer.publicTemplate))
        let certified = try module.certify(
            key, authorization: authorization, by: signer, nonce: challenge.request.nonce)
        let ours = try module.activate(challenge.request.credential, seed: challenge.request.seed, for: signer)
        module.close()
        let folder = tpm.directory.path
        func write(_ name: String, _ bytes: [UInt8]) throws {
            try Data(bytes).write(to: URL(filePath: "\(folder)/\(name)"))
        }
        func field(_ bytes: [UInt8]) -> [UInt8] { [UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)] + bytes }
        try write("ak.pub", signer.areas.publicArea)
        try write("ak.priv", signer.areas.privateArea)
        // The file of tpm2-tools: magic, version, credential and seed.
        try write(
            "credential",
            [0xBA, 0xDC, 0xC0, 0xDE, 0, 0, 0, 1] + field(challenge.request.credential) + field(challenge.request.seed))
        try write("statement", certified.statement)
        let steps: [(String, [String])] = [
            ("tpm2_load", ["-C", "0x81000001", "-u", "ak.pub", "-r", "ak.priv", "-c", "ak.ctx", "-n", "ak.name"]),
            ("tpm2_flushcontext", ["-t"]),
            ("tpm2_startauthsession", ["--policy-session", "-S", "session"]),
            ("tpm2_policysecret", ["-S", "session", "-c", "e"]),
            (
                "tpm2_activatecredential",
                ["-c", "ak.ctx", "-C", "0x81010001", "-i", "credential", "-o", "opened", "-P", "session:session"]
            ),
            ("tpm2_flushcontext", ["session"]),
            ("tpm2_readpublic", ["-c", "0x81010001", "-o", "ek.pub"]),
        ]
        for (tool, arguments) in steps {
            let outcome = try tpm.run(tool, arguments)
            #expect(outcome.status == 0, "\(tool): \(outcome.output)")
        }
        #expect(try SharedSecret(copying: Data(contentsOf: URL(filePath: "\(folder)/opened"))) == ours)
        let printed = try tpm.run("tpm2_print", ["-t", "TPMS_ATTEST", "statement"])
        let nonce = challenge.request.nonce.map { String(format: "%02x", $0) }.joined()
        #expect(printed.output.contains(nonce) && printed.output.contains("8017"), "\(printed.output)")
        // The other way round.
        try write("secret", [UInt8](repeating: 7, count: 32))
        let name = try Data(contentsOf: URL(filePath: "\(folder)/ak.name")).map { String(format: "%02x", $0) }.joined()
        let made = try tpm.run(
            "tpm2_makecredential", ["-e", "ek.pub", "-s", "secret", "-n", name, "-o", "theirs"])
        #expect(made.status == 0, "\(made.output)")
        let theirs = try [UInt8](Data(contentsOf: URL(filePath: "\(folder)/theirs"))).dropFirst(8)
        let length = theirs.prefix(2).reduce(0) { $0 << 8 | Int($1) }
        let opened = try module.activate(
            Array(theirs.dropFirst(2).prefix(length)), seed: Array(theirs.dropFirst(4 + length)), for: signer)
        #expect(opened == SharedSecret(copying: [UInt8](repeating: 7, count: 32)))
        module.close()
    }

    private static let storageAttributes =
        "fixedtpm|fixedparent|sensitivedataorigin|userwithauth|noda|restricted|decrypt"

    @Test("The commands of a machine and of a verifier without a TPM")
    func commands() throws {
        let maker = try TPMMaker()
        let tpm = try SoftwareTPM(maker: maker)
        let (home, other) = (try TemporaryDirectory(), try TemporaryDirectory())
        func machine(_ arguments: [String]) throws -> Executable.Outcome {
            try Executable.run(
                "latchkey", ["key"] + arguments, home: home.path, environment: ["LATCHKEY_TPM": tpm.addressText])
        }
        func verifier(_ arguments: [String]) throws -> Executable.Outcome {
            try Executable.run(
                "latchkey", ["key", "attest"] + arguments, home: other.path, environment: ["LATCHKEY_TPM": "none"])
        }
        func file(_ name: String) -> String { "\(home.path)/\(name)" }
        #expect(try machine(["generate", "--secure-enclave", "--tag", "t"]).status == 0)
        #expect(try machine(["attest", "identity", "--tag", "t", "-o", file("identity")]).status == 0)
        let refused = try verifier(
            ["challenge", "--ca", maker.root, "--state", file("s"), file("identity"), "-o", file("c")])
        #expect(refused.status != 0 && refused.error.contains("not trusted"), "\(refused)")
        let made = try verifier([
            "challenge", "--ca", maker.root, "--intermediate", maker.issuer, "--state", file("kept"), file("identity"),
            "-o", file("challenge"),
        ])
        #expect(made.status == 0, "\(made.error)")
        let answered = try machine(["attest", "answer", "--tag", "t", file("challenge"), "-o", file("answer")])
        #expect(answered.status == 0, "\(answered.error)")
        let verified = try verifier(["verify", "--state", file("kept"), file("answer")])
        #expect(verified.status == 0, "\(verified.error)")
        #expect(try verified.output == machine(["public", "--tag", "t"]).output)
        #expect(
            try verifier(["verify", "--state", file("kept"), file("answer"), "--json"]).output.contains("resetCount"))
        let swapped = try verifier(["verify", "--state", file("kept"), file("identity")])
        #expect(swapped.status != 0 && swapped.error.contains("not an attestation"), "\(swapped.error)")
        // A key in software proves nothing.
        #expect(try machine(["generate", "--type", "ec", "--size", "256", "--tag", "soft"]).status == 0)
        let soft = try machine(["attest", "identity", "--tag", "soft"])
        #expect(soft.status != 0 && soft.error.contains("only a key in a TPM"), "\(soft.error)")
    }
}

private enum CertificateFile {
    static func read(_ path: String) throws -> [Certificate] {
        let text = try String(contentsOfFile: path, encoding: .utf8)
        var found: [Certificate] = []
        for block in text.components(separatedBy: "-----BEGIN CERTIFICATE-----").dropFirst() {
            let base64 = block.components(separatedBy: "-----END").first ?? ""
            let der = Data(base64Encoded: base64, options: .ignoreUnknownCharacters) ?? Data()
            found.append(try Certificate(der: Array(der)))
        }
        return found
    }
}
