// SPDX-License-Identifier: Apache-2.0

import CertificateTrust
import Foundation
import KeychainTesting
import LatchkeyNIOSSL
import LatchkeySecurity
import Testing
import TransportPolicy

/// CAs, made once for all tests: the one of the servers, one with the same names and other keys, and
/// one with another name.
struct Lab: Sendable {
    typealias Issued = OpenSSLAuthority.IssuedCertificate

    let authority: OpenSSLAuthority
    let other: OpenSSLAuthority
    let stranger: Issued

    private static let made = Result {
        let authority = try OpenSSLAuthority()
        let stranger = try authority.issue(
            "/CN=Another CA",
            "basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign\nsubjectKeyIdentifier=hash\n", by: nil)
        return Lab(authority: authority, other: try OpenSSLAuthority(), stranger: stranger)
    }
    static func shared() throws -> Lab { try made.get() }

    /// The name in the certificates of the servers.
    static let host = "api.example.com"

    func server() throws -> Issued { try authority.server(Self.host) }

    func trust() throws -> PeerTrust { .only([try authority.root.parsed()]) }

    /// A client that trusts the CA alone.
    func client(
        _ requirements: [PinRequirement] = [], enforcement: PinSet.Enforcement = .enforced, identity: TLSIdentity? = nil
    ) throws -> TLSClient {
        TLSClient(
            ConnectionPolicy(pins: try Self.pins(requirements, enforcement)), trust: try trust(), identity: identity)
    }

    static func pins(
        _ requirements: [PinRequirement], _ enforcement: PinSet.Enforcement = .enforced
    ) throws -> PinConfiguration {
        guard !requirements.isEmpty else { return PinConfiguration() }
        let rule = try DomainRule(DomainName("example.com"), subdomains: .anyLevel)
        return try PinConfiguration([
            PinSet(rule, requirements, requiresBackup: false, enforcement: enforcement)
        ])
    }

    // MARK: Identities

    /// A kind of key that a keychain makes.
    enum KeyKind: String, CaseIterable, Sendable {
        case p256, p384, rsa2048

        fileprivate var attributes: [CFString: Any] {
            switch self {
            case .p256: [kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256]
            case .p384: [kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 384]
            case .rsa2048: [kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecAttrKeySizeInBits: 2048]
            }
        }
    }

    /// Makes a key that cannot be extracted in the keychain of the task, and issues a certificate for it.
    func identity(
        _ kind: KeyKind, _ subject: String, _ extensions: String, by authority: OpenSSLAuthority
    ) throws -> TLSIdentity {
        let attributes = kind.attributes.merging([
            kSecPrivateKeyAttrs: [kSecAttrIsPermanent: true, kSecAttrIsExtractable: false] as [CFString: Any]
        ]) { $1 }
        let key = try #require(SecKeyCreateRandomKey(attributes as CFDictionary, nil))
        #expect(key.description.contains("in the keychain"))
        let publicKey = try #require(SecKeyCopyPublicKey(key))
        var exported: CFData?
        #expect(SecItemExport(publicKey, .formatOpenSSL, [.pemArmour], nil, &exported) == errSecSuccess)
        let openssl = authority.openssl
        let pem = try openssl.file(Data(referencing: try #require(exported)))
        let settings = try openssl.file(Array(extensions.utf8))
        let der = try openssl.output([
            "x509", "-new", "-force_pubkey", pem, "-subj", subject, "-CA", authority.intermediate.file, "-CAkey",
            authority.intermediate.keyFile, "-extfile", settings, "-days", "30", "-outform", "DER",
        ])
        let certificate = try #require(SecCertificateCreateWithData(nil, Data(der) as CFData))
        let intermediate = try #require(SecCertificateCreateWithData(nil, authority.intermediate.der as CFData))
        let identity = try #require(SecIdentityCreate(nil, certificate, key))
        return try TLSIdentity(identity, intermediates: [intermediate])
    }

    static let clientExtensions = """
        basicConstraints=CA:FALSE
        keyUsage=critical,digitalSignature
        extendedKeyUsage=clientAuth
        authorityKeyIdentifier=keyid

        """
}

extension OpenSSLAuthority.IssuedCertificate {
    func parsed() throws -> Certificate { try Certificate(der: Array(der)) }
    func pin() throws -> Pin { Pin(try parsed()) }
}
