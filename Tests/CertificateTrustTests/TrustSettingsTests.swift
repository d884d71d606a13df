// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import LinuxSystem
import Testing

@testable import CertificateTrust

/// The trust settings of the user and the administrator, and their effect.
@Suite("Trust settings")
struct TrustSettingsTests {
    private static let root = Issuer("root")
    private static let intermediate = Issuer("intermediate")
    private static let server = Issuer("example.com")
    private static let validationTime = 1_780_000_000.0

    private let chain: [Certificate]
    private var leaf: Certificate { chain[0] }
    private var anchor: Certificate { chain[2] }

    init() throws {
        let names = CertificateTemplate.extension(
            "2.5.29.17", DERWriter.sequence(DERWriter.implicit(2, Array("example.com".utf8))))
        let usage = CertificateTemplate.extension(
            "2.5.29.37", DERWriter.sequence(DERWriter.identifier("1.3.6.1.5.5.7.3.1")))
        chain = [
            try Self.server.leaf(by: Self.intermediate) { $0.extensions = [names, usage] },
            try Self.intermediate.certificate(by: Self.root), try Self.root.certificate(by: Self.root),
        ]
    }

    private func settings(_ entries: (Certificate, [TrustSetting])...) -> TrustSettings {
        var settings = TrustSettings()
        for (certificate, said) in entries { settings.set(said, of: certificate, at: Self.validationTime) }
        return settings
    }

    private func verdict(
        _ settings: TrustSettings..., policy: TrustPolicy = .server(ServerName(requested: "example.com")),
        anchors: [Certificate] = [],
        isAnchorsOnly: Bool = false, at validationTime: Double = validationTime
    ) -> TrustVerdict {
        var evaluation = TrustEvaluation(chain.dropLast(), policies: [policy], at: validationTime)
        evaluation.anchors = anchors
        evaluation.isAnchorsOnly = isAnchorsOnly
        evaluation.settings = settings
        evaluation.systemAnchors = SystemAnchors { .init(files: [], directories: []) }
        return evaluation.verdict()
    }

    @Test("A root with a trust setting is an anchor for the policies of the setting")
    func anchors() {
        #expect(verdict().failure?.rule == .untrusted)
        #expect(verdict(settings((anchor, []))).result == .proceed)
        #expect(verdict(settings((anchor, [TrustSetting(.trustRoot)]))).result == .proceed)
        #expect(verdict(settings((anchor, [TrustSetting(.unspecified)]))).failure?.rule == .untrusted)
        #expect(verdict(settings((anchor, [TrustSetting(.trustRoot, policy: .server)]))).result == .proceed)
        #expect(verdict(settings((anchor, [TrustSetting(.trustRoot, policy: .mail)]))).failure?.rule == .untrusted)
        #expect(
            verdict(settings((anchor, [TrustSetting(.trustRoot, policy: .server, name: "EXAMPLE.com")]))).result
                == .proceed)
        #expect(
            verdict(settings((anchor, [TrustSetting(.trustRoot, policy: .server, name: "other.com")]))).failure?.rule
                == .untrusted)
        // A certificate that is not self-signed needs trustAsRoot.
        #expect(verdict(settings((leaf, [TrustSetting(.trustRoot)]))).failure?.rule == .untrusted)
        #expect(verdict(settings((leaf, [TrustSetting(.trustAsRoot)]))).chain == [leaf])
        // The rules still apply, and settings add no anchors if only the given ones are trusted.
        #expect(
            verdict(settings((anchor, [])), policy: .server(ServerName(requested: "example.org"))).failure?.rule
                == .serverName)
        #expect(verdict(settings((anchor, [])), isAnchorsOnly: true).failure?.rule == .untrusted)
        #expect(verdict(settings((anchor, [])), anchors: [anchor]).result == .unspecified)
    }

    @Test("A denied certificate is in no trusted chain; the user's settings precede the administrator's")
    func denial() {
        for certificate in chain {
            let denied = verdict(settings((certificate, [TrustSetting(.deny)])), anchors: [anchor], isAnchorsOnly: true)
            #expect(denied.result == .deny && denied.failure?.rule == .denied && denied.exceptions == nil)
        }
        let forMail = settings((leaf, [TrustSetting(.deny, policy: .mail)]))
        #expect(verdict(forMail, anchors: [anchor]).result == .unspecified)
        let (user, administrator) = (settings((anchor, [])), settings((anchor, [TrustSetting(.deny)])))
        #expect(verdict(user, administrator).result == .proceed)
        #expect(verdict(administrator, user, anchors: [anchor]).result == .deny)
        // A denied certificate without an anchor is denied as well, not just untrusted.
        let unknown = verdict(settings((leaf, [TrustSetting(.deny)])))
        #expect(unknown.result == .deny && unknown.exceptions == nil)
    }

    @Test("An allowed error is ignored only for that certificate, and only for that rule")
    func allowed() {
        let late = 1_900_000_000.0
        let both = settings((anchor, []), (leaf, [TrustSetting(.unspecified, allowedError: .expired)]))
        #expect(verdict(settings((anchor, [])), at: late).failure?.rule == .expired)
        #expect(verdict(both, at: late).result == .proceed)
        let other = settings((anchor, []), (chain[1], [TrustSetting(.unspecified, allowedError: .expired)]))
        #expect(verdict(other, at: late).failure?.rule == .expired)
        let wrongHost = TrustPolicy.server(ServerName(requested: "example.org"))
        #expect(verdict(both, policy: wrongHost).failure?.rule == .serverName)
    }

    @Test(
        "Exceptions and settings do not cover other failures: names, dates, other leaves, signatures"
    )
    func unseen() throws {
        func evaluated(
            _ certificates: [Certificate], _ policy: TrustPolicy, at validationTime: Double = Self.validationTime,
            exceptions: TrustExceptions? = nil,
            settings: TrustSettings = TrustSettings()
        ) -> TrustVerdict {
            var evaluation = TrustEvaluation(certificates, policies: [policy], at: validationTime)
            evaluation.isAnchorsOnly = true
            evaluation.exceptions = exceptions
            evaluation.settings = [settings]
            return evaluation.verdict()
        }
        // The exception covers only the untrusted issuer.
        let own = try Self.server.leaf(by: Self.server) {
            $0.extensions = [
                CertificateTemplate.extension(
                    "2.5.29.17", DERWriter.sequence(DERWriter.implicit(2, Array("example.com".utf8)))),
                CertificateTemplate.extension(
                    "2.5.29.37", DERWriter.sequence(DERWriter.identifier("1.3.6.1.5.5.7.3.1"))),
            ]
        }
        let right = TrustPolicy.server(ServerName(requested: "example.com"))
        let agreed = try #require(evaluated([own], right).exceptions)
        #expect(evaluated([own], right, exceptions: agreed).result == .proceed)
        #expect(!evaluated([own], .server(ServerName(requested: "example.org")), exceptions: agreed).result.isTrusted)
        #expect(!evaluated([own], right, at: 1_900_000_000, exceptions: agreed).result.isTrusted)
        // An expired intermediate, and another leaf below it.
        let old = try Self.intermediate.certificate(by: Self.root) {
            $0.notAfter = CertificateTemplate.time("20260101000000Z")
        }
        let other = try Self.server.leaf(by: Self.intermediate) { $0.serialNumber = DERWriter.integer(77) }
        func below(_ leaf: Certificate, _ exceptions: TrustExceptions? = nil) -> TrustVerdict {
            var evaluation = TrustEvaluation([leaf, old], policies: [.basicX509], at: Self.validationTime)
            (evaluation.anchors, evaluation.isAnchorsOnly, evaluation.exceptions) = ([anchor], true, exceptions)
            return evaluation.verdict()
        }
        let expired = try #require(below(leaf).exceptions)
        #expect(below(leaf, expired).result == .proceed)
        #expect(below(other, expired).failure?.rule == .expired)
        let critical = try Self.server.leaf(by: Self.server) {
            $0.extensions? += [CertificateTemplate.extension("1.2.3.4", critical: true, [0x05, 0x00])]
        }
        #expect(evaluated([critical], .basicX509).exceptions == nil)
        // A leaf from an issuer with the same name, but another key.
        let forged = try Self.server.leaf(by: Issuer("intermediate")) {
            $0.keyIdentifiers = [Issuer.identifier(ofIssuer: Self.intermediate.key)]
        }
        for rule in [TrustRule.untrusted, .keyUsage, .serverName] {
            let allowing = settings((chain[1], [TrustSetting(.unspecified, allowedError: rule)]))
            #expect(!evaluated([forged, chain[1]], .basicX509, settings: allowing).result.isTrusted, "\(rule)")
        }
        #expect(evaluated([forged, chain[1]], .basicX509).exceptions == nil)
    }

    @Test("A denial is found after settings for other policies and in other domains")
    func masked() {
        let denied = settings((anchor, [TrustSetting(.deny)]))
        let mail = settings((anchor, [TrustSetting(.trustRoot, policy: .mail)]))
        #expect(verdict(mail, denied, anchors: [anchor]).result == .deny)
        let both = settings((anchor, [TrustSetting(.unspecified, allowedError: .expired), TrustSetting(.deny)]))
        #expect(verdict(both, anchors: [anchor]).result == .deny)
        // Denied, not presented, and not an anchor.
        #expect(verdict(denied).result == .deny)
    }

    @Test("A property list in XML contains all settings, and is read back unchanged")
    func propertyList() throws {
        let said = settings(
            (anchor, []),
            (
                leaf,
                [
                    TrustSetting(.deny, policy: .server, name: "example.com"),
                    TrustSetting(.unspecified, policy: .mail, allowedError: .expired),
                ]
            ))
        let bytes = try said.propertyList()
        let again = try TrustSettings(propertyList: bytes)
        #expect(Set(again.entries.map(\.certificate)) == [anchor, leaf])
        #expect(
            again.entry(leaf)?.settings == said.entry(leaf)?.settings
                && again.entry(leaf)?.modified == Self.validationTime)
        let list = try #require(
            try PropertyListSerialization.propertyList(from: Data(bytes), format: nil) as? [String: Any])
        #expect(list["trustVersion"] as? Int == 1)
        let entry = try #require(
            (list["trustList"] as? [String: [String: Any]])?[Hexadecimal.text(leaf.sha1, isUppercase: true)])
        #expect(
            entry["issuerName"] as? Data == Data(leaf.issuer.der)
                && entry["serialNumber"] as? Data == Data(leaf.serialNumber))
        let first = try #require((entry["trustSettings"] as? [[String: Any]])?.first)
        #expect(
            first["kSecTrustSettingsResult"] as? Int == 3
                && first["kSecTrustSettingsPolicyName"] as? String == "sslServer")
    }

    @Test("A list of macOS needs the certificates from elsewhere; unsupported settings are refused")
    func foreignLists() throws {
        let hash = Hexadecimal.text(anchor.sha1, isUppercase: true)
        func list(_ setting: [String: Any], version: Int = 1, hash: String) throws -> [UInt8] {
            let list: [String: Any] = ["trustVersion": version, "trustList": [hash: ["trustSettings": [setting]]]]
            return Array(try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0))
        }
        let plain = try list(["kSecTrustSettingsResult": 1], hash: hash)
        #expect(throws: CertificateError.self) { try TrustSettings(propertyList: plain) }
        #expect(try TrustSettings(propertyList: plain, known: chain).entries.map(\.certificate) == [anchor])
        for setting: [String: Any] in [
            ["kSecTrustSettingsResult": 9], ["kSecTrustSettingsKeyUsage": 1],
            ["kSecTrustSettingsApplication": Data([1])],
            ["kSecTrustSettingsPolicyName": "eapServer"], ["kSecTrustSettingsOther": 1],
            ["kSecTrustSettingsAllowedError": -67843],
            ["kSecTrustSettingsPolicy": Data([0x2A, 0x86, 0x48, 0x86, 0xF7, 0x63, 0x64, 0x01, 0x09])],
            ["kSecTrustSettingsAllowedError": -67688], ["kSecTrustSettingsResult": "1"],
        ] {
            let bytes = try list(setting, hash: hash)
            #expect(throws: CertificateError.self, "\(setting)") {
                try TrustSettings(propertyList: bytes, known: chain)
            }
        }
        for bytes in [try list([:], version: 2, hash: hash), Array("text".utf8), [], Array(plain.dropLast(30))] {
            #expect(throws: CertificateError.self) { try TrustSettings(propertyList: bytes, known: chain) }
        }
        let ssl = try list(
            ["kSecTrustSettingsPolicy": Data([0x2A, 0x86, 0x48, 0x86, 0xF7, 0x63, 0x64, 0x01, 0x03])], hash: hash)
        #expect(
            try TrustSettings(propertyList: ssl, known: chain).entries.first?.settings.map(\.policy) == [
                .server, .client,
            ])
        // The DER of one certificate under the hash of another.
        var spoiled = String(decoding: try settings((anchor, [])).propertyList(), as: UTF8.self)
        spoiled = spoiled.replacingOccurrences(of: hash, with: Hexadecimal.text(leaf.sha1, isUppercase: true))
        #expect(throws: CertificateError.self) { try TrustSettings(propertyList: Array(spoiled.utf8)) }
    }

    @Test(
        "A file is read again when it changes; with a damaged or insecure file, nothing is trusted")
    func files() throws {
        let folder = try TemporaryDirectory()
        let file = TrustSettingsFile("\(folder.path)/settings/\(TrustSettingsFile.name)", owner: geteuid())
        #expect(try file.load().entries.isEmpty)
        try file.save(settings((anchor, [])))
        #expect(try file.load().entries.count == 1)
        try file.save(settings((anchor, []), (leaf, [])))
        #expect(try file.load().entries.count == 2)
        func trusted() -> TrustVerdict {
            var evaluation = TrustEvaluation(chain.dropLast(), policies: [.basicX509], at: Self.validationTime)
            evaluation.take(
                TrustSettingsDomains(
                    user: "\(folder.path)/settings", administrator: TrustSettingsFile("\(folder.path)/none", owner: 0)))
            return evaluation.verdict()
        }
        #expect(trusted().result == .proceed)
        try Data("damaged".utf8).write(to: URL(filePath: file.path))
        #expect(throws: CertificateError.self) { try file.load() }
        #expect(trusted().result == .deny)
        // A missing file, then one that cannot be examined.
        let hidden = TrustSettingsFile("\(folder.path)/hidden.plist", owner: geteuid())
        #expect(try hidden.load().entries.isEmpty)
        try FileManager.default.createSymbolicLink(atPath: hidden.path, withDestinationPath: hidden.path)
        #expect(throws: CertificateError.self) { try hidden.load() }
    }
}
