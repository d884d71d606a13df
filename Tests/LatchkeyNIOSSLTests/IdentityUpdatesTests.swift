// SPDX-License-Identifier: Apache-2.0

import CertificateTrust
import Foundation
import KeychainTesting
import LatchkeyNIOSSL
import LatchkeySecurity
import Testing

/// Servers that follow an identity of the keychain.
@Suite("Renewal of TLS identities")
struct IdentityUpdatesTests {
    private let lab: Lab

    init() throws { lab = try Lab.shared() }

    private static let label = "api"

    /// Makes an identity in the keychain of the task: a key, and the item of its certificate.
    private func store(_ subject: String, label: String = label, days: Int = 30) throws {
        let attributes =
            [
                kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256,
                kSecPrivateKeyAttrs: [kSecAttrIsPermanent: true] as [CFString: Any],
            ] as [CFString: Any]
        let key = try #require(SecKeyCreateRandomKey(attributes as CFDictionary, nil))
        let publicKey = try #require(SecKeyCopyPublicKey(key))
        var exported: CFData?
        #expect(SecItemExport(publicKey, .formatOpenSSL, [.pemArmour], nil, &exported) == errSecSuccess)
        let openssl = lab.authority.openssl
        let pem = try openssl.file(Data(referencing: try #require(exported)))
        let settings = try openssl.file(Array(OpenSSLAuthority.server("DNS:\(Lab.host)").utf8))
        let issuer = lab.authority.intermediate
        let der = try openssl.output([
            "x509", "-new", "-force_pubkey", pem, "-subj", "/CN=\(subject)", "-CA", issuer.file, "-CAkey",
            issuer.keyFile, "-extfile", settings, "-days", "\(days)", "-outform", "DER",
        ])
        try add(Data(der), label: label)
    }

    private func add(_ der: Data, label: String) throws {
        let certificate = try #require(SecCertificateCreateWithData(nil, der as CFData))
        let item = [kSecValueRef: certificate, kSecAttrLabel: label] as [CFString: Any]
        #expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
    }

    /// The subject of the leaf that a server shows.
    private func subject(_ server: RunningServer) async throws -> String? {
        let ending = try await Conversation.request(try lab.client(), Lab.host, port: server.port)
        return ending.handshake.peer?.chain?.leaf.subjectSummary
    }

    /// Tells nothing but the changes.
    private func description(_ change: IdentityUpdates.Change) -> String {
        switch change {
        case .renewed: "renewed"
        case .unavailable: "unavailable"
        }
    }

    @Test(
        "A server takes a renewed identity while it serves, and refuses no connection", .long,
        arguments: [Backend.onDisk, .ephemeral, .daemon])
    func renewal(_ backend: Backend) async throws {
        let keychain = try TestKeychain(backend)
        let changes = Collected<String>()
        let (tls, updates) = try keychain.run(groups: ["G1"]) {
            try store("first")
            try add(lab.authority.intermediate.der, label: "CA")
            let updates = try IdentityUpdates(of: KeychainIdentity(label: Self.label), interval: .milliseconds(20))
            let tls = try TLSServer(updates.first)
            updates.follow { change in
                changes.append(description(change))
                if case .renewed(let identity) = change { try? tls.use(identity) }
            }
            return (tls, updates)
        }
        let server = try await RunningServer(tls)
        #expect(try await subject(server) == "first")
        // The validity of a certificate begins at a whole second: the second must begin later.
        try await Task.sleep(for: .milliseconds(1100))
        try keychain.run(groups: ["G1"]) { try store("second") }
        var seen: [String?] = []
        for _ in 0..<60 {
            seen.append(try await subject(server))
            if seen.last == "second" { break }
        }
        #expect(
            seen.allSatisfy { $0 == "first" || $0 == "second" } && seen.last == "second",
            "\(seen.count) \(seen.suffix(3)) \(changes.all)")
        #expect(changes.all == ["renewed"])
        updates.end()
        withExtendedLifetime(keychain) {}
    }

    @Test("An identity that disappears stays in use, and is reported once")
    func disappearance() async throws {
        let keychain = try TestKeychain(.ephemeral)
        let changes = Collected<String>()
        let updates = try keychain.run(groups: ["G1"]) {
            try store("only")
            return try IdentityUpdates(of: KeychainIdentity(label: Self.label), interval: .milliseconds(10))
        }
        keychain.run(groups: ["G1"]) { updates.follow { changes.append(description($0)) } }
        keychain.run(groups: ["G1"]) {
            #expect(
                SecItemDelete([kSecClass: kSecClassCertificate] as [CFString: Any] as CFDictionary) == errSecSuccess)
        }
        #expect(await eventuallyInTask { changes.all == ["unavailable"] })
        try keychain.run(groups: ["G1"]) { try store("later") }
        #expect(await eventuallyInTask { changes.all.count > 1 })
        #expect(changes.all == ["unavailable", "renewed"])
        updates.end()
        withExtendedLifetime(keychain) {}
    }

    @Test("Of several identities with a name, the valid one that began last is used, with its CA of the keychain")
    func choice() throws {
        let keychain = try TestKeychain(.ephemeral)
        try keychain.run(groups: ["G1"]) {
            #expect(throws: TLSRefusal.self) { try KeychainIdentity(label: Self.label).current() }
            try store("expired", days: -1)
            let error = #expect(throws: TLSRefusal.self) { try KeychainIdentity(label: Self.label).current() }
            #expect(error?.description.contains("1 that are not valid now") == true)
            try store("valid")
            try store("other", label: "other")
            try add(lab.authority.intermediate.der, label: "CA")
            try add(lab.authority.root.der, label: "root")
            for name in [KeychainIdentity(label: Self.label), KeychainIdentity(subject: "valid")] {
                let chain = try name.current().certificateChain
                #expect(chain.count == 2, "\(name)")
            }
            #expect(try KeychainIdentity(subject: Lab.host).current().certificateChain.count == 2)
            #expect(throws: TLSRefusal.self) { try KeychainIdentity(subject: "nobody").current() }
        }
    }

    @Test("After its end, and after its last reference, nothing is followed")
    func end() async throws {
        let keychain = try TestKeychain(.ephemeral)
        let changes = Collected<String>()
        try keychain.run(groups: ["G1"]) {
            try store("first")
            let updates = try IdentityUpdates(of: KeychainIdentity(label: Self.label), interval: .milliseconds(10))
            updates.follow { changes.append(description($0)) }
        }
        keychain.run(groups: ["G1"]) {
            #expect(
                SecItemDelete([kSecClass: kSecClassCertificate] as [CFString: Any] as CFDictionary) == errSecSuccess)
        }
        // Long enough for ten readings.
        try await Task.sleep(for: .milliseconds(100))
        #expect(changes.all.isEmpty)
        withExtendedLifetime(keychain) {}
    }
}
