// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import LatchkeyService
import Security
import Synchronization
import Testing

/// Import and export of key and certificate files, exchanged with openssl.
@Suite("SecItemImport and SecItemExport")
struct SecItemImportTests {
    private let authority: OpenSSLAuthority
    private let issued: OpenSSLAuthority.IssuedCertificate
    private var openssl: OpenSSL { authority.openssl }

    init() throws {
        authority = try OpenSSLAuthority()
        issued = try authority.server("example.com")
    }

    private func imported(
        _ data: Data, passphrase: String? = nil, type: SecExternalItemType = .itemTypeUnknown,
        flags: SecKeyImportExportFlags = []
    ) -> (status: OSStatus, format: SecExternalFormat, type: SecExternalItemType, items: [NSObject]) {
        var (format, found, items) = (SecExternalFormat.formatUnknown, type, CFArray?.none)
        let secret = passphrase.map { NSString(string: $0) }
        var parameters = SecItemImportExportKeyParameters(flags: flags)
        parameters.passphrase = secret.map { .passUnretained($0) }
        let status = withExtendedLifetime(secret) {
            SecItemImport(data as CFData, nil, &format, &found, [], &parameters, nil, &items)
        }
        return (status, format, found, items as? [NSObject] ?? [])
    }

    private func exported(
        _ items: Any, _ format: SecExternalFormat, flags: SecItemImportExportFlags = [], passphrase: String? = nil
    ) -> (status: OSStatus, data: Data) {
        var data: CFData?
        let secret = passphrase.map { NSString(string: $0) }
        var parameters = SecItemImportExportKeyParameters()
        parameters.passphrase = secret.map { .passUnretained($0) }
        let status = withExtendedLifetime(secret) { SecItemExport(items, format, flags, &parameters, &data) }
        return (status, data as Data? ?? Data())
    }

    private func file(_ path: String) throws -> Data { try Data(contentsOf: URL(filePath: path)) }

    @Test("A file with a byte order mark is imported, and one with a damaged block between others is refused")
    func textForms() throws {
        let (key, certificate) = (try file(issued.keyFile), try file(issued.file))
        let (mark, root) = (Data([0xEF, 0xBB, 0xBF]), try file(authority.root.file))
        let one = imported(mark + certificate)
        #expect(one.status == errSecSuccess && one.format == .formatPEMSequence && one.items.count == 1)
        #expect(imported(mark + key).items.count == 1)
        #expect(imported(mark + certificate + mark + root + mark + key).items.count == 2)
        // A block with an unknown label is skipped, and the program's log says so.
        let misspelled = String(decoding: root, as: UTF8.self)
            .replacingOccurrences(of: "CERTIFICATE", with: "CERTIFCATE")
        let warnings = Mutex<[String]>([])
        ProgramLog.$current.withValue(ProgramLog { text in warnings.withLock { $0.append(text) } }) {
            #expect(imported(certificate + key).items.count == 1 && warnings.withLock { $0 }.isEmpty)
            #expect(imported(Data(misspelled.utf8) + certificate).items.count == 1)
        }
        // So is a key of a kind that is not read. A log has each warning once.
        ProgramLog.$current.withValue(ProgramLog { text in warnings.withLock { $0.append(text) } }) {
            let other = "-----BEGIN TSS2 PRIVATE KEY-----\nMAA=\n-----END TSS2 PRIVATE KEY-----\n"
            #expect(imported(certificate + Data(other.utf8)).items.count == 1)
            #expect(imported(Data(other.utf8)).status == errSecUnimplemented)
        }
        #expect(warnings.withLock { $0 }.map { $0.contains("unknown labels") } == [true, true])
        let changes = [
            certificate.dropFirst(), certificate.dropLast(4), certificate.prefix(200),
            certificate.prefix(100) + Data("!!".utf8) + certificate.dropFirst(100),
        ]
        for change in changes {
            #expect(imported(root + change + Data("\n".utf8) + key).status == errSecDecode)
        }
    }

    @Test("Every format of openssl is imported, and the detected format is reported")
    func formats() throws {
        let (key, certificate) = (try file(issued.keyFile), try file(issued.file))
        let one = imported(certificate)
        #expect(one.status == errSecSuccess && one.format == .formatPEMSequence && one.type == .itemTypeCertificate)
        #expect(imported(issued.der).format == .formatX509Cert)
        let pair = imported(key + certificate)
        #expect(pair.type == .itemTypeAggregate && pair.items.count == 1 && pair.items.first is SecIdentity)
        #expect(imported(key).type == .itemTypePrivateKey)
        #expect(imported(key + certificate, type: .itemTypePrivateKey).items.first is SecKey)
        #expect(imported(key + certificate, type: .itemTypeCertificate).items.first is SecCertificate)
        #expect(imported(certificate, type: .itemTypePrivateKey).status == errSecDecode)
        let pkcs7 = Data(
            try openssl.output(
                ["crl2pkcs7", "-nocrl", "-certfile", issued.file, "-certfile", authority.root.file, "-outform", "DER"]))
        let several = imported(pkcs7)
        #expect(several.format == .formatPKCS7 && several.items.count == 2 && several.type == .itemTypeCertificate)
        let pkcs12 = Data(
            try openssl.output([
                "pkcs12", "-export", "-passout", "pass:pw", "-in", issued.file, "-inkey", issued.keyFile,
            ]))
        #expect(imported(pkcs12).status == errSecPassphraseRequired)
        #expect(imported(pkcs12, passphrase: "wrong").status == errSecAuthFailed)
        #expect(imported(pkcs12, passphrase: "pw").items.first is SecIdentity)
        #expect(imported(pkcs12, passphrase: "pw").format == .formatPKCS12)
        let another = try authority.server("other.example.com")
        let two = key + (try file(another.keyFile))
        #expect(imported(two).items.count == 2)
        #expect(imported(two, flags: .importOnlyOne).status == errSecMultiplePrivKeys)
        #expect(imported(Data("text".utf8)).status != errSecSuccess && imported(Data()).status != errSecSuccess)
        #expect(SecItemImport(certificate as CFData, nil, nil, nil, [], nil, "keychain", nil) == errSecParam)
    }

    /// A length of two bytes for a value that fits one byte: BER, but not DER.
    private static func longer(_ der: Data, at index: Int = 0) -> Data {
        der.prefix(index + 1) + [0x81] + der.dropFirst(index + 1)
    }

    private func key(_ words: String...) throws -> Data {
        Data(try openssl.output(["genpkey", "-outform", "DER"] + words))
    }

    @Test("A key in BER is refused, wherever it differs from DER, although openssl reads it")
    func ber() throws {
        // SEC 1 of P-256 has 121 bytes, so each length fits one byte.
        let curve = try openssl.file(key("-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"))
        let traditional = Data(try openssl.output(["ec", "-inform", "DER", "-in", curve, "-outform", "DER"]))
        #expect(imported(traditional).items.first is SecKey)
        let longLength = Self.longer(traditional)
        // An indefinite length, and the two zeros that end it.
        let indefinite = traditional.prefix(1) + [0x80] + traditional.dropFirst(2) + [0, 0]
        for ber in [longLength, indefinite] {
            _ = try openssl.output(["ec", "-inform", "DER", "-in", openssl.file(ber), "-noout", "-text"])
            #expect(imported(ber).status == errSecParam && imported(ber).items.isEmpty)
            let pem = "-----BEGIN EC PRIVATE KEY-----\n\(ber.base64EncodedString())\n-----END EC PRIVATE KEY-----\n"
            #expect(imported(Data(pem.utf8)).status == errSecParam)
        }
        // Inside PKCS #8: the key's version with a longer length, and the three enclosing lengths
        // increased by one.
        let wrapped = Data(
            try openssl.output(["pkcs8", "-topk8", "-nocrypt", "-inform", "DER", "-in", curve, "-outform", "DER"]))
        #expect(imported(wrapped).items.first is SecKey)
        let version = try #require(wrapped.range(of: Data([0x02, 0x01, 0x01, 0x04, 0x20])))
        var changed = wrapped
        changed.replaceSubrange(version, with: [0x02, 0x81, 0x01, 0x01, 0x04, 0x20])
        for index in [2, version.lowerBound - 3, version.lowerBound - 1] { changed[index] += 1 }
        _ = try openssl.output(["pkey", "-inform", "DER", "-in", openssl.file(changed), "-noout"])
        #expect(imported(changed).status == errSecParam)
    }

    @Test("A curve with explicit parameters is refused with a specific error, also for a known curve")
    func explicitParameters() throws {
        let name = ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"]
        let plain = Data(try openssl.output(["genpkey", "-outform", "DER"] + name))
        let spelled = Data(
            try openssl.output(["genpkey", "-outform", "DER"] + name + ["-pkeyopt", "ec_param_enc:explicit"]))
        #expect(imported(plain).status == errSecSuccess)
        #expect(imported(spelled).status == errSecUnimplemented)
        let file = try openssl.file(spelled)
        for words in [["pkey", "-pubout"], ["ec"], ["pkcs8", "-topk8", "-passout", "pass:pw"]] {
            let form = Data(
                try openssl.output([words[0], "-inform", "DER", "-in", file, "-outform", "DER"] + words.dropFirst()))
            #expect(imported(form, passphrase: "pw").status == errSecUnimplemented, "\(words)")
        }
    }

    @Test("An RSA key with three primes is refused with a specific error, in every format")
    func threePrimes() throws {
        let three = try key("-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-pkeyopt", "rsa_keygen_primes:3")
        #expect(imported(three).status == errSecUnimplemented)
        let traditional = Data(
            try openssl.output(["rsa", "-inform", "DER", "-in", openssl.file(three), "-traditional", "-outform", "DER"])
        )
        #expect(imported(traditional).status == errSecUnimplemented)
        // Its public half is an ordinary key.
        let half = Data(
            try openssl.output(["pkey", "-inform", "DER", "-in", openssl.file(three), "-pubout", "-outform", "DER"]))
        #expect(imported(half).items.first is SecKey)
        let attributes =
            [kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecAttrKeyClass: kSecAttrKeyClassPrivate] as CFDictionary
        #expect(SecKeyCreateWithData(traditional as CFData, attributes, nil) == nil)
    }

    @Test("openssl reads exported items, and they can be imported again")
    func exports() throws {
        let identity = try #require(imported(try file(issued.keyFile) + file(issued.file)).items.first as? SecIdentity)
        var (certificate, key): (SecCertificate?, SecKey?)
        SecIdentityCopyCertificate(identity, &certificate)
        SecIdentityCopyPrivateKey(identity, &key)
        let (leaf, privateKey) = (try #require(certificate), try #require(key))
        let root = try #require(SecCertificateCreateWithData(nil, authority.root.der as CFData))
        #expect(exported(leaf, .formatUnknown).data == issued.der && exported(leaf, .formatX509Cert).data == issued.der)
        let text = exported([leaf, root], .formatPEMSequence).data
        #expect(imported(text).items == [leaf, root])
        let pkcs7 = exported([leaf, root], .formatPKCS7)
        let told = try openssl.output(["pkcs7", "-inform", "DER", "-print_certs", "-in", openssl.file(pkcs7.data)])
        #expect(String(decoding: told, as: UTF8.self).components(separatedBy: "BEGIN CERTIFICATE").count == 3)
        let armored = exported([leaf], .formatPKCS7, flags: .pemArmour)
        #expect(String(decoding: armored.data, as: UTF8.self).hasPrefix("-----BEGIN PKCS7-----\n"))
        let pkcs12 = exported([identity, root] as [Any], .formatPKCS12, passphrase: "pw")
        let opened = try openssl.output(["pkcs12", "-in", openssl.file(pkcs12.data), "-passin", "pass:pw", "-nodes"])
        #expect(String(decoding: opened, as: UTF8.self).components(separatedBy: "BEGIN CERTIFICATE").count == 3)
        #expect(imported(pkcs12.data, passphrase: "pw").items.first as? SecIdentity == identity)
        #expect(exported(identity, .formatPKCS12).status == errSecPassphraseRequired)
        let wrapped = exported(privateKey, .formatWrappedPKCS8, flags: .pemArmour, passphrase: "pw")
        let same = try openssl.output([
            "pkey", "-in", openssl.file(wrapped.data), "-passin", "pass:pw", "-outform", "DER",
        ])
        #expect(try same == openssl.output(["pkey", "-in", issued.keyFile, "-outform", "DER"]))
        #expect(exported(privateKey, .formatWrappedPKCS8).status == errSecPassphraseRequired)
        #expect(
            try exported(privateKey, .formatBSAFE).data == #require(SecKeyCopyExternalRepresentation(privateKey, nil))
                as Data)
        #expect(exported([privateKey, leaf] as [Any], .formatPKCS7).status == errSecParam)
        #expect(
            exported("text", .formatUnknown).status == errSecParam
                && exported([Any](), .formatUnknown).status == errSecParam)
        #expect(exported(privateKey, .formatNetscapeCertSequence).status == errSecUnimplemented)
    }
}
