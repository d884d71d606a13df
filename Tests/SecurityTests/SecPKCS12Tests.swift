// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import LatchkeyService
import Security
import Synchronization
import Testing

/// PKCS #12 files of openssl, modern and legacy, as programs import them.
@Suite("SecPKCS12Import")
struct SecPKCS12Tests {
    private static let authority = Result { try OpenSSLAuthority() }
    private let authority: OpenSSLAuthority
    private let issued: OpenSSLAuthority.IssuedCertificate

    init() throws {
        authority = try Self.authority.get()
        issued = try authority.server("example.com")
    }

    private func file(_ words: [String], passphrase: String = "s3cret") throws -> Data {
        Data(try authority.openssl.output(["pkcs12", "-export", "-passout", "pass:\(passphrase)"] + words))
    }

    private func imported(_ data: Data, _ options: [CFString: Any]) -> (status: OSStatus, items: [[String: Any]]?) {
        var items: CFArray?
        let status = SecPKCS12Import(data as CFData, options as CFDictionary, &items)
        return (status, items as? [[String: Any]])
    }

    private var whole: [String] {
        [
            "-in", issued.file, "-inkey", issued.keyFile, "-certfile", authority.intermediate.file, "-name",
            "Example ümlaut",
        ]
    }

    @Test(
        "The identity of a file has a certificate, key, label, chain and trust, and is only in memory",
        arguments: [
            [], ["-legacy"], ["-keypbe", "AES-128-CBC", "-certpbe", "AES-192-CBC", "-macalg", "SHA512"],
            ["-keypbe", "PBE-SHA1-RC2-128", "-certpbe", "PBE-SHA1-RC4-128", "-legacy"], ["-nomac"],
            ["-certpbe", "NONE"],
            ["-iter", "100000"],
            ["-keypbe", "NONE", "-certpbe", "NONE"],
        ])
    func identity(_ words: [String]) throws {
        let (status, items) = imported(try file(whole + words), [kSecImportExportPassphrase: "s3cret"])
        try #require(status == errSecSuccess)
        #expect(items?.count == 1)
        let item = try #require(items?.first)
        let identity = try #require(item["identity"] as? SecIdentity)
        let certificate = try #require(SecCertificateCreateWithData(nil, issued.der as CFData))
        var found: SecCertificate?
        #expect(SecIdentityCopyCertificate(identity, &found) == errSecSuccess && found == certificate)
        var key: SecKey?
        #expect(SecIdentityCopyPrivateKey(identity, &key) == errSecSuccess)
        let message = Data("message".utf8) as CFData
        let privateKey = try #require(key)
        let signature = try #require(SecKeyCreateSignature(privateKey, .ecdsaSignatureMessageX962SHA256, message, nil))
        let publicKey = try #require(SecCertificateCopyKey(certificate))
        #expect(SecKeyVerifySignature(publicKey, .ecdsaSignatureMessageX962SHA256, message, signature, nil))
        #expect(item["label"] as? String == "Example ümlaut")
        #expect((item["keyid"] as? Data)?.count == 20)
        #expect((item["chain"] as? [SecCertificate])?.count == 2)
        let trust = try #require(item["trust"] as? SecTrust)
        let root = try #require(SecCertificateCreateWithData(nil, authority.root.der as CFData))
        #expect(SecTrustSetAnchorCertificates(trust, [root] as CFArray) == errSecSuccess)
        #expect(SecTrustEvaluateWithError(trust, nil))
    }

    @Test("T263: a missing and a wrong passphrase are refused, the right one is accepted")
    func passphrases() throws {
        for words in [[], ["-legacy"]] {
            let file = try file(whole + words)
            #expect(imported(file, [:]).status == errSecPassphraseRequired)
            #expect(imported(file, [kSecImportExportPassphrase: "wrong"]).status == errSecAuthFailed)
            #expect(imported(file, [kSecImportExportPassphrase: ""]).status == errSecAuthFailed)
            #expect(imported(file, [kSecImportExportPassphrase: "s3cret"]).items?.count == 1)
        }
        // Without an integrity check the decryption reports the wrong passphrase.
        let unchecked = try file(whole + ["-nomac"])
        #expect(imported(unchecked, [kSecImportExportPassphrase: "wrong"]).status == errSecAuthFailed)
        for empty in [try file(whole, passphrase: ""), try file(whole + ["-legacy"], passphrase: "")] {
            #expect(imported(empty, [:]).items?.count == 1)
            #expect(imported(empty, [kSecImportExportPassphrase: ""]).items?.count == 1)
        }
        let unicode = try file(whole + ["-legacy"], passphrase: "pässwörd")
        #expect(imported(unicode, [kSecImportExportPassphrase: "pässwörd"]).items?.count == 1)
    }

    @Test(
        "Storage options are accepted; an unknown option is ignored and logged by name, without its value"
    )
    func options() throws {
        let file = try file(whole)
        let warnings = Mutex<[String]>([])
        let log = ProgramLog { text in warnings.withLock { $0.append(text) } }
        ProgramLog.$current.withValue(log) {
            let known: [CFString: Any] = [
                kSecImportExportPassphrase: "s3cret", kSecUseDataProtectionKeychain: true, kSecImportToMemoryOnly: true,
                kSecImportExportKeychain: "any", kSecImportExportAccess: NSNull(),
            ]
            #expect(imported(file, known).items?.count == 1)
            #expect(warnings.withLock { $0 }.isEmpty)
            let unknown: [CFString: Any] = [
                kSecImportExportPassphrase: "s3cret", "u_Other": "hidden", "a\u{1B}[2Jb": 5,
            ]
            for _ in 0..<3 { #expect(imported(file, unknown).items?.count == 1) }
            // Each option is logged once, in one line, with any characters in its name.
            let lines = warnings.withLock { $0 }
            #expect(lines.count == 2 && lines.contains { $0.contains("u_Other") })
            #expect(lines.allSatisfy { !$0.contains("hidden") && !$0.contains("\u{1B}") })
            // The passphrase is still read from its own option.
            #expect(imported(file, ["pass": "s3cret"]).status == errSecPassphraseRequired)
        }
    }

    @Test("Files with only certificates and files with only keys are imported")
    func parts() throws {
        let certificates = try file(["-nokeys", "-in", issued.file, "-certfile", authority.intermediate.file])
        let (status, items) = imported(certificates, [kSecImportExportPassphrase: "s3cret"])
        #expect(status == errSecSuccess && items?.count == 1)
        #expect((items?.first?["chain"] as? [SecCertificate])?.count == 2 && items?.first?["identity"] == nil)
        let key = try file(["-nocerts", "-inkey", issued.keyFile])
        #expect(imported(key, [kSecImportExportPassphrase: "s3cret"]).status == errSecSuccess)
        #expect(imported(key, [kSecImportExportPassphrase: 5]).status == errSecParam)
    }

    @Test("Truncated and changed files are refused without a trap, as are files with an excessive work factor")
    func malformed() throws {
        let good = try file(whole)
        for count in stride(from: 0, to: good.count, by: 7) {
            #expect(imported(good.prefix(count), [kSecImportExportPassphrase: "s3cret"]).status == errSecDecode)
        }
        #expect(imported(good + [0], [kSecImportExportPassphrase: "s3cret"]).status == errSecDecode)
        var refused = 0
        for position in stride(from: 0, to: good.count, by: 17) {
            var changed = good
            changed[position] ^= 0x11
            if imported(changed, [kSecImportExportPassphrase: "s3cret"]).status != errSecSuccess { refused += 1 }
        }
        #expect(refused > good.count / 17 - 3)
        // 100,000 rounds become eight million, a number of the same length.
        var rounds = [UInt8](try file(whole + ["-iter", "100000", "-nomac"]))
        let count: [UInt8] = [0x02, 0x03, 0x01, 0x86, 0xA0]
        var changes = 0
        for position in 0..<rounds.count - 5 where Array(rounds[position..<position + 5]) == count {
            rounds.replaceSubrange(position + 2..<position + 5, with: [0x7F, 0xFF, 0xFF])
            changes += 1
        }
        #expect(changes > 0)
        // scrypt is limited as well: N = 16384, r = 8, p = 1 becomes p = 127.
        var scrypt = [UInt8](
            try authority.openssl.output([
                "pkcs8", "-topk8", "-in", issued.keyFile, "-scrypt", "-passout", "pass:s3cret", "-outform", "DER",
            ]))
        let costs: [UInt8] = [0x02, 0x01, 0x08, 0x02, 0x01, 0x01]
        let place = try #require((0..<scrypt.count - 6).first { Array(scrypt[$0..<$0 + 6]) == costs })
        scrypt[place + 5] = 0x7F
        var items: CFArray?
        var parameters = SecItemImportExportKeyParameters()
        parameters.passphrase = .passRetained(NSString(string: "s3cret"))
        defer { parameters.passphrase?.release() }
        #expect(
            SecItemImport(Data(scrypt) as CFData, nil, nil, nil, [], &parameters, nil, &items) == errSecUnimplemented)
        let taken = ThreadTime.taken {
            #expect(imported(Data(rounds), [kSecImportExportPassphrase: "s3cret"]).status == errSecUnimplemented)
        }
        #expect(taken < 2, "\(taken) seconds: the key was derived")
    }
}
