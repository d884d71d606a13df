// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import LatchkeyOperations
import LatchkeyService
import Security
import Testing

/// Certificates and identities as items (keychain-behaviour §7.1 T035 to T046, §7.4), created with
/// openssl.
@Suite("Certificates and identities as items", .serialized)
struct CertificateItemTests {
    private static let authority = Result { try OpenSSLAuthority() }

    private let authority: OpenSSLAuthority
    private let root: SecCertificate
    private let intermediate: SecCertificate

    init() throws {
        authority = try Self.authority.get()
        root = try Self.certificate(authority.root)
        intermediate = try Self.certificate(authority.intermediate)
    }

    private static func certificate(_ issued: OpenSSLAuthority.IssuedCertificate) throws -> SecCertificate {
        try #require(SecCertificateCreateWithData(nil, issued.der as CFData))
    }

    /// An identity in memory, with a key that `SecKey` generated.
    private func identity(_ name: String) throws -> SecIdentity {
        let attributes =
            [kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeyClass: kSecAttrKeyClassPrivate]
            as CFDictionary
        let issued = try authority.server(name)
        // The point and the private number, in the form that SecKey uses.
        let text = String(
            decoding: try authority.openssl.output(["pkey", "-in", issued.keyFile, "-text", "-noout"]), as: UTF8.self)
        func number(_ label: String, _ end: String) throws -> Data {
            let part = try #require(text.components(separatedBy: label).last?.components(separatedBy: end).first)
            return Data(part.split(whereSeparator: { ": \n".contains($0) }).compactMap { UInt8($0, radix: 16) })
        }
        let (point, scalar) = (try number("pub:", "ASN1"), try number("priv:", "pub:"))
        let external = point + Data(repeating: 0, count: max(0, 32 - scalar.count)) + scalar.suffix(32)
        let key = try #require(SecKeyCreateWithData(external as CFData, attributes, nil))
        return try #require(SecIdentityCreate(nil, Self.certificate(issued), key))
    }

    private func key(of identity: SecIdentity) throws -> SecKey {
        var key: SecKey?
        #expect(SecIdentityCopyPrivateKey(identity, &key) == errSecSuccess)
        return try #require(key)
    }

    private func certificate(of identity: SecIdentity) throws -> SecCertificate {
        var certificate: SecCertificate?
        #expect(SecIdentityCopyCertificate(identity, &certificate) == errSecSuccess)
        return try #require(certificate)
    }

    // MARK: Certificates

    @Test(
        "T035 to T041: a certificate is added by reference, found in every result shape, and deleted",
        arguments: Backend.allCases)
    func byReference(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            #expect(add(["v_Ref": root]) == errSecSuccess)
            #expect(add(["v_Ref": root]) == errSecDuplicateItem)
            #expect(add(item(cert, ["v_Ref": root])) == errSecDuplicateItem)
            #expect(delete(["v_Ref": root]) == errSecSuccess)
            #expect(copy(item(cert)).status == errSecItemNotFound)
            let plain = addReturning(["v_Ref": root])
            #expect(plain.status == errSecSuccess && plain.value == nil)
            #expect(delete(["v_Ref": root]) == errSecSuccess)
            let persistent = addReturning(["v_Ref": root, "r_PersistentRef": true])
            let der = copy(["v_PersistentRef": try #require(persistent.data), "r_Data": true])
            #expect(der.data == SecCertificateCopyData(root) as Data)
            #expect(delete(["v_Ref": root]) == errSecSuccess)
            #expect(addReturning(["v_Ref": root, "r_Ref": true]).value as? SecCertificate == root)
            #expect(delete(["v_Ref": root]) == errSecSuccess)
            #expect(addReturning(["v_Ref": root, "r_Data": true]).data == SecCertificateCopyData(root) as Data)
        }
    }

    @Test("T042, T043: the attributes of the item come from the certificate", arguments: Backend.allCases)
    func attributes(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            let told = try #require(addReturning(["v_Ref": root, "r_Attributes": true]).attributes)
            #expect(told["v_Data"] == nil && told["v_Ref"] == nil && told["v_PersistentRef"] == nil)
            #expect(told["ctyp"] as? Int == 3 && told["cenc"] as? Int == 3 && told["labl"] as? String == "Test root")
            #expect(told["slnr"] as? Data == SecCertificateCopySerialNumberData(root, nil) as Data?)
            #expect(told["pdmn"] as? String == "dk")
            let key = try #require(SecCertificateCopyKey(root))
            let label = SecKeyCopyAttributes(key)?[kSecAttrApplicationLabel] as? Data
            #expect(told["pkhh"] as? Data == label && label != nil)
            #expect(delete(["v_Ref": root]) == errSecSuccess)
            let all: Query = [
                "v_Ref": root, "r_Data": true, "r_Ref": true, "r_PersistentRef": true, "r_Attributes": true,
            ]
            let everything = try #require(addReturning(all).attributes)
            #expect(everything["class"] as? String == cert && everything["v_Ref"] as? SecCertificate == root)
            #expect(everything["v_Data"] is Data && everything["v_PersistentRef"] is Data && everything["ctyp"] != nil)
        }
    }

    @Test(
        "A certificate added by its bytes gets the same attributes; the caller's values take precedence",
        arguments: Backend.allCases)
    func byData(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            #expect(add(item(cert, ["v_Data": SecCertificateCopyData(root), "labl": "mine"])) == errSecSuccess)
            #expect(add(["v_Ref": root]) == errSecDuplicateItem)
            let found = try #require(copy(["v_Ref": root, "r_Attributes": true, "r_Ref": true]).attributes)
            #expect(found["labl"] as? String == "mine" && found["v_Ref"] as? SecCertificate == root)
            #expect(copy(["v_Ref": intermediate]).status == errSecItemNotFound)
        }
    }

    @Test(
        "T044 to T046: attributes of other classes are refused, and names match in any form",
        arguments: Backend.allCases)
    func searches(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            #expect(add(["v_Ref": root, "atag": data("x")]) == errSecNoSuchAttr)
            #expect(add(["v_Ref": intermediate, "sync": true]) == errSecSuccess)
            #expect(delete(["v_Ref": intermediate, "sync": true]) == errSecSuccess)
            add(["v_Ref": root])
            add(["v_Ref": intermediate])
            #expect(copy(item(cert, ["labl": "Test root", "r_Ref": true])).value as? SecCertificate == root)
            // A name in DER, and its normalized form.
            let name = try #require(SecCertificateCopyNormalizedIssuerSequence(intermediate)) as Data
            let issued = copy(item(cert, ["issr": name, "r_Ref": true]).with(.all)).list as? [SecCertificate]
            #expect(Set(issued ?? []) == [root, intermediate])
            #expect(copy(item(cert, ["subj": name, "r_Ref": true])).value as? SecCertificate == root)
            #expect(copy(item(cert, ["r_Ref": true, "v_Ref": "text"])).status == errSecParam)
            #expect(copy(item(genp, ["v_Ref": root])).status == errSecParam)
        }
    }

    @Test("T095 to T097: certificates are matched by date, trust, issuers and policies", arguments: Backend.allCases)
    func matching(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            let server = try Self.certificate(try authority.server("match.example.com"))
            for certificate in [root, intermediate, server] { add(["v_Ref": certificate]) }
            func found(_ match: Query) -> [SecCertificate]? {
                copy(item(cert, ["r_Ref": true]).with(.all).with(match)).list as? [SecCertificate]
            }
            func missing(_ match: Query) -> OSStatus { copy(item(cert).with(match)).status }
            let name = ["labl": "match.example.com"]
            #expect(copy(item(cert, ["m_ValidOnDate": NSNull()]).with(name)).status == errSecSuccess)
            #expect(missing(["m_ValidOnDate": Date(timeIntervalSinceNow: -86_400)]) == errSecItemNotFound)
            #expect(
                missing(["m_ValidOnDate": Date(timeIntervalSinceNow: 91 * 86_400)].merging(name) { $1 })
                    == errSecItemNotFound)
            #expect(missing(["m_ValidOnDate": "today"]) == errSecParam)
            #expect(missing(["m_TrustedOnly": true]) == errSecItemNotFound)
            #expect(found(["m_TrustedOnly": false])?.count == 3)
            #expect(found(["m_Policy": SecPolicyCreateSSL(true, "match.example.com" as CFString)]) == [server])
            #expect(
                missing(["m_Policy": SecPolicyCreateSSL(true, "other.example.com" as CFString)]) == errSecItemNotFound)
            #expect(found(["m_Policy": SecPolicyCreateBasicX509()])?.count == 3)
            #expect(missing(["m_Policy": "ssl"]) == errSecParam)
            let issuer = try #require(SecCertificateCopyNormalizedSubjectSequence(root)) as Data
            #expect(found(["m_Issuers": [issuer]]).map(Set.init) == [root, intermediate, server])
            let direct = try #require(SecCertificateCopyNormalizedSubjectSequence(intermediate)) as Data
            #expect(found(["m_Issuers": [direct]]) == [server])
            #expect(missing(["m_Issuers": [Data("no name".utf8)]]) == errSecParam)
            for key in ["m_Issuers": [issuer] as Any, "m_Policy": SecPolicyCreateBasicX509()] {
                #expect(copy(item(genp, [key.key: key.value])).status == errSecUnimplemented)
            }
            // The limit applies after the conditions.
            let one = copy(item(cert, ["r_Ref": true, "m_Issuers": [direct], "m_Limit": 1]))
            #expect(one.value as? SecCertificate == server)
        }
    }

    // MARK: Identities

    @Test(
        "T076 to T080: an identity is added by reference, found, and deleted with both halves",
        arguments: Backend.allCases)
    func identities(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            let identity = try identity("one.example.com")
            let (certificate, key) = (try certificate(of: identity), try key(of: identity))
            #expect(add(["v_Ref": identity]) == errSecSuccess)
            #expect(add(["v_Ref": identity]) == errSecDuplicateItem)
            let label = try #require(SecKeyCopyAttributes(key)?[kSecAttrApplicationLabel] as? Data)
            #expect(copy(item(keys, ["klbl": label, "r_Ref": true])).value as? SecKey == key)
            #expect(copy(item(cert, ["pkhh": label, "r_Ref": true])).value as? SecCertificate == certificate)
            #expect(copy(item(idnt, ["klbl": label, "r_Ref": true])).value as? SecIdentity == identity)
            #expect(copy(["v_Ref": identity, "r_Ref": true]).value as? SecIdentity == identity)
            // The key in the keychain signs for the certificate.
            let stored = try #require(copy(item(idnt, ["r_Ref": true])).value as? SecIdentity)
            let message = data("message") as CFData
            let signature = try #require(
                SecKeyCreateSignature(self.key(of: stored), .ecdsaSignatureMessageX962SHA256, message, nil))
            let publicKey = try #require(SecCertificateCopyKey(certificate))
            #expect(SecKeyVerifySignature(publicKey, .ecdsaSignatureMessageX962SHA256, message, signature, nil))
            #expect(delete(["v_Ref": identity]) == errSecSuccess)
            for itemClass in [idnt, cert, keys] { #expect(copy(item(itemClass)).status == errSecItemNotFound) }
        }
    }

    @Test(
        "T080 to T085, T088: identities have persistent references and labels, and are not added twice",
        arguments: Backend.allCases)
    func references(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            let identity = try identity("two.example.com")
            let added = addReturning(["v_Ref": identity, "labl": "L", "r_PersistentRef": true])
            let reference = try #require(added.data)
            let again = addReturning(["v_Ref": identity, "r_PersistentRef": true])
            #expect(again.status == errSecDuplicateItem && again.value == nil)
            #expect(copy(["v_PersistentRef": reference, "r_Ref": true]).value as? SecIdentity == identity)
            for object in [identity, try certificate(of: identity), try key(of: identity)] as [NSObject] {
                #expect(copy(["v_Ref": object, "r_PersistentRef": true]).data != nil)
            }
            #expect(copy(["v_Ref": identity, "r_PersistentRef": true]).data == reference)
            for itemClass in [idnt, cert, keys] {
                #expect(copy(item(itemClass, ["labl": "L"])).status == errSecSuccess, "\(itemClass)")
            }
            #expect(update(["v_PersistentRef": reference], ["labl": "M"]) == -26276)
            #expect(delete(["v_PersistentRef": reference]) == errSecSuccess)
            #expect(copy(item(idnt)).status == errSecItemNotFound && copy(item(keys)).status == errSecItemNotFound)
            // One half may be stored already.
            #expect(add(["v_Ref": try certificate(of: identity)]) == errSecSuccess)
            #expect(addReturning(["v_Ref": identity, "r_Ref": true]).value as? SecIdentity == identity)
        }
    }

    @Test("SecItemAdd of an identity stores no certificate if its key is refused", arguments: Backend.allCases)
    func refusedKey(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            let identity = try identity("twelve.example.com")
            // A certificate may name a token, but a key may not.
            #expect(add(["v_Ref": identity, "tkid": "com.apple.setoken"]) == errSecUnimplemented)
            for itemClass in [idnt, cert, keys] {
                #expect(copy(item(itemClass)).status == errSecItemNotFound, "\(itemClass)")
            }
            #expect(add(["v_Ref": try certificate(of: identity), "tkid": "com.apple.setoken"]) == errSecSuccess)
        }
    }

    @Test(
        "T086, T087: the label of an identity is that of its certificate; an update changes both halves",
        arguments: Backend.allCases)
    func changes(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            let identity = try identity("three.example.com")
            add(["v_Ref": identity, "labl": "L", "agrp": "G1"])
            #expect(update(["v_Ref": try key(of: identity)], ["labl": "L2"]) == errSecSuccess)
            #expect(copy(item(idnt, ["labl": "L"])).status == errSecSuccess)
            #expect(copy(item(keys, ["labl": "L2"])).status == errSecSuccess)
            #expect(update(item(idnt, ["labl": "L"]), ["agrp": "G2"]) == errSecSuccess)
            for itemClass in [idnt, cert, keys] {
                #expect(copy(item(itemClass, ["agrp": "G2"])).status == errSecSuccess, "\(itemClass)")
                #expect(copy(item(itemClass, ["agrp": "G1"])).status == errSecItemNotFound, "\(itemClass)")
            }
            #expect(update(item(idnt), ["v_Data": data("x")]) == errSecParam)
        }
    }

    @Test(
        "kSecUseItemList adds all its items or none, and limits a search, an update and a deletion",
        arguments: Backend.allCases)
    func useItemList(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            let server = try certificate(of: try identity("eleven.example.com"))
            let list = [root, intermediate, server]
            add(["v_Ref": server])
            #expect(add(["u_ItemList": list]) == errSecDuplicateItem)
            #expect(copy(item(cert, ["r_Ref": true]).with(.all)).list as? [SecCertificate] == [server])
            _ = delete(item(cert))
            let added = addReturning(["u_ItemList": list, "labl": "L", "r_Ref": true])
            #expect(added.status == errSecSuccess && added.list as? [SecCertificate] == list)
            let references = try #require(
                copy(item(cert, ["labl": "L", "r_PersistentRef": true]).with(.all)).list as? [Data])
            #expect(references.count == 3)
            let cases: [(entries: [Any], expected: [SecCertificate])] = [
                ([root, server], [root, server]), ([references[1]], [intermediate]), ([root, references[0]], [root]),
            ]
            for (entries, expected) in cases {
                let found = copy(item(cert, ["u_ItemList": entries, "r_Ref": true]).with(.all)).list
                #expect(found as? [SecCertificate] == expected)
            }
            #expect(copy(item(cert, ["u_ItemList": [root], "m_ItemList": [server]])).status == errSecItemNotFound)
            #expect(update(item(cert, ["u_ItemList": [root]]), ["labl": "M"]) == errSecSuccess)
            #expect(copy(item(cert, ["labl": "L", "r_Ref": true]).with(.all)).list?.count == 2)
            #expect(delete(item(cert, ["u_ItemList": [root, references[1]] as [Any]])) == errSecSuccess)
            #expect(copy(item(cert, ["r_Ref": true]).with(.all)).list as? [SecCertificate] == [server])
            // The list also accepts identities and keys, but not several classes at once, and only
            // items.
            let identity = try identity("ten.example.com")
            #expect(add(["u_ItemList": [identity]]) == errSecSuccess)
            #expect(copy(item(idnt, ["u_ItemList": [identity], "r_Ref": true])).value as? SecIdentity == identity)
            for list in [[identity, root], [], ["x"], [data("x")]] as [[Any]] {
                #expect(add(["u_ItemList": list]) == errSecParam)
            }
            #expect(add(["u_ItemList": [root], "v_Ref": root]) == errSecParam)
            #expect(add(item(keys, ["u_ItemList": [root]])) == errSecParam)
        }
    }

    @Test("An invalid dictionary is refused before the objects in it are searched for")
    func formBeforeSearch() throws {
        try withKeychain(.onDisk) { keychain in
            keychain.service.close()
            let list = ["m_ItemList": [root]]
            #expect(copy(item(cert, list)).status == errSecNotAvailable)
            #expect(copy(item(cert, list).with(["m_TrustedOnly": "x"])).status == errSecParam)
            #expect(update(item(cert, list), ["bogu": 1]) == errSecNoSuchAttr)
        }
    }

    @Test(
        "An update of an identity is atomic: if the key's half fails, the certificate stays unchanged",
        arguments: Backend.allCases)
    func allOrNothing(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            let identities = try ["eight.example.com", "nine.example.com"].map(identity)
            for identity in identities { add(["v_Ref": identity, "labl": "L", "agrp": "G1"]) }
            // The other group already holds the key of the second identity.
            #expect(add(["v_Ref": try key(of: identities[1]), "agrp": "G2"]) == errSecSuccess)
            #expect(update(item(idnt, ["agrp": "G1"]), ["agrp": "G2", "labl": "L2"]) == errSecDuplicateItem)
            for itemClass in [cert, keys] {
                #expect(
                    copy(item(itemClass, ["agrp": "G1", "labl": "L", "r_Attributes": true]).with(.all)).list?.count
                        == 2, "\(itemClass)")
                #expect(copy(item(itemClass, ["labl": "L2"])).status == errSecItemNotFound)
            }
            #expect(copy(item(cert, ["agrp": "G2"])).status == errSecItemNotFound)
            #expect(delete(item(keys, ["agrp": "G2"])) == errSecSuccess)
            #expect(update(item(idnt, ["agrp": "G1"]), ["agrp": "G2", "labl": "L2"]) == errSecSuccess)
            #expect(copy(item(idnt, ["agrp": "G2", "labl": "L2", "r_Attributes": true]).with(.all)).list?.count == 2)
        }
    }

    @Test(
        "The attributes of an identity are those of the key, replaced by those of the certificate",
        arguments: Backend.allCases)
    func shape(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            let identity = try identity("four.example.com")
            add(["v_Ref": identity])
            let all: Query = ["r_Data": true, "r_Ref": true, "r_PersistentRef": true, "r_Attributes": true]
            let told = try #require(copy(item(idnt, all)).attributes)
            #expect(told["class"] as? String == idnt && told["v_Ref"] as? SecIdentity == identity)
            #expect(told["certdata"] as? Data == SecCertificateCopyData(try certificate(of: identity)) as Data)
            #expect(told["v_Data"] as? Data == SecKeyCopyExternalRepresentation(try key(of: identity), nil) as Data?)
            #expect(
                told["ctyp"] as? Int == 3 && told["bsiz"] as? Int == 256
                    && told["labl"] as? String == "four.example.com")
            #expect(told["pdmn"] as? String == "ak")
        }
    }

    @Test("T090, T091: identities and their certificates are found by issuer", arguments: Backend.allCases)
    func issuers(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            let identities = [try identity("six.example.com"), try identity("seven.example.com")]
            for identity in identities { add(["v_Ref": identity]) }
            let issuer = try #require(SecCertificateCopyNormalizedSubjectSequence(intermediate)) as Data
            let found = copy(item(idnt, ["m_Issuers": [issuer], "r_Ref": true]).with(.all)).list as? [SecIdentity]
            #expect(found.map(Set.init) == Set(identities))
            let certificates =
                copy(item(cert, ["m_Issuers": [issuer], "r_Ref": true, "m_Limit": 0x7FFF])).list as? [SecCertificate]
            #expect(certificates.map(Set.init) == Set(try identities.map(certificate)))
            let other = try #require(SecCertificateCopyNormalizedSubjectSequence(root)) as Data
            #expect(copy(item(idnt, ["m_Issuers": [other]])).status == errSecItemNotFound)
        }
    }

    @Test("T094: a search by policy and date finds the valid email certificates among six", arguments: Backend.allCases)
    func mail(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            func issued(_ name: String, _ usage: String, days: Int) throws -> SecCertificate {
                let settings =
                    "extendedKeyUsage=\(usage)\nsubjectAltName=email:\(name)@example.com\nsubjectKeyIdentifier=hash\n"
                return try Self.certificate(
                    try authority.issue("/CN=\(name)", settings, days: days, by: authority.intermediate))
            }
            let short = [try issued("a", "emailProtection", days: 30), try issued("b", "emailProtection", days: 30)]
            let long = [try issued("c", "emailProtection", days: 300)]
            let others = [
                try issued("d", "serverAuth", days: 300), try issued("e", "codeSigning", days: 30),
                try issued("f", "clientAuth", days: 300),
            ]
            for certificate in short + long + others { add(["v_Ref": certificate]) }
            let mail = try #require(SecPolicyCreateWithProperties(kSecPolicyAppleSMIME, nil))
            for (days, expected) in [(1.0, short + long), (100, long), (-1, []), (400, [])] {
                let date = Date(timeIntervalSinceNow: days * 86_400)
                let found = copy(item(cert, ["m_Policy": mail, "m_ValidOnDate": date, "r_Ref": true]).with(.all))
                #expect(Set(found.list as? [SecCertificate] ?? []) == Set(expected), "\(days)")
            }
            let alice = try #require(
                SecPolicyCreateWithProperties(kSecPolicyAppleSMIME, [kSecPolicyName: "a@example.com"] as CFDictionary))
            #expect(
                copy(item(cert, ["m_Policy": alice, "r_Ref": true]).with(.all)).list as? [SecCertificate] == [short[0]])
        }
    }

    @Test("Each identity has the key that was joined, not the first key of the same pair", arguments: Backend.allCases)
    func ownKey(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            let identity = try identity("thirteen.example.com")
            #expect(add(["v_Ref": identity, "agrp": "G1"]) == errSecSuccess)
            let others = try [["agrp": "G2"], ["agrp": "G1", "atag": data("again")]].map { attributes in
                try #require(
                    addReturning(
                        ["v_Ref": try key(of: identity), "r_PersistentRef": true].with(attributes as Query)
                    ).data)
            }
            func references(_ query: Query) throws -> [Data?] {
                let found = try #require(
                    copy(item(idnt, ["r_Ref": true]).with(.all).with(query)).list as? [SecIdentity])
                #expect(found.allSatisfy { $0 == identity })
                return try found.map { copy(["v_Ref": try key(of: $0), "r_PersistentRef": true]).data }
            }
            let all = try references([:])
            #expect(Set(all).count == 3 && Array(all.dropFirst()) == others)
            #expect(try references(["agrp": "G1"]) == [all[0], others[1]])
            #expect(try references(["atag": data("again")]) == [others[1]])
            // The object that stands for the identity finds it with each of its keys.
            #expect(try references(["v_Ref": identity]) == all)
            // Every result has the data of its own key.
            let values: Query = ["r_Data": true, "r_Attributes": true, "r_PersistentRef": true]
            let dictionaries = try #require(copy(item(idnt, values).with(.all)).dictionaries)
            #expect(dictionaries.map { $0["agrp"] as? String } == ["G1", "G2", "G1"])
            #expect(dictionaries.allSatisfy { $0["certdata"] is Data && $0["v_Data"] is Data })
            #expect(Set(dictionaries.compactMap { $0["v_PersistentRef"] as? Data }).count == 1)
        }
    }

    @Test(
        "A limit applies to the identities that satisfy the conditions, with the data of their keys",
        arguments: Backend.allCases)
    func matchedIdentities(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            let identities = try (0..<3).map { try identity("limit\($0).example.com") }
            for identity in identities { add(["v_Ref": identity]) }
            let issuer = try #require(SecCertificateCopyNormalizedSubjectSequence(intermediate)) as Data
            let query = item(idnt, ["m_Issuers": [issuer], "m_Policy": SecPolicyCreateBasicX509()])
            let one = copy(query.with(["r_Data": true, "r_Ref": true, "m_Limit": 1]))
            #expect(one.attributes?["v_Ref"] as? SecIdentity == identities[0])
            #expect(
                one.attributes?["v_Data"] as? Data
                    == SecKeyCopyExternalRepresentation(try key(of: identities[0]), nil) as Data?)
            #expect(copy(query.with(["r_Ref": true, "m_Limit": 2])).list as? [SecIdentity] == Array(identities[..<2]))
            #expect(copy(query.with(["r_Data": true]).with(.all)).list?.count == 3)
            #expect(copy(query.with(["r_Attributes": true]).with(.all)).list?.count == 3)
            let other = query.with(["m_Policy": SecPolicyCreateSSL(true, "other.example.com" as CFString)])
            #expect(copy(other.with(["r_Data": true])).status == errSecItemNotFound)
        }
    }

    @Test("An identity that is added is returned with the key that was added", arguments: Backend.allCases)
    func addedKey(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            let identity = try identity("fourteen.example.com")
            add(["v_Ref": try key(of: identity), "atag": data("first")])
            let added = addReturning(["v_Ref": identity, "atag": data("second"), "r_Ref": true, "r_Attributes": true])
            #expect(added.status == errSecSuccess)
            #expect(added.attributes?["atag"] as? Data == data("second"))
            let stored = try #require(added.attributes?["v_Ref"] as? SecIdentity)
            #expect(SecKeyCopyAttributes(try key(of: stored))?[kSecAttrApplicationTag] as? Data == data("second"))
        }
    }

    @Test(
        "A key with two certificates stays until the last one is deleted; public keys form no identity",
        arguments: Backend.allCases)
    func sharedKey(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            let identity = try identity("five.example.com")
            let key = try key(of: identity)
            let publicKey = try #require(SecKeyCopyPublicKey(key))
            let first = try certificate(of: identity)
            add(["v_Ref": publicKey])
            add(["v_Ref": first])
            #expect(copy(item(idnt)).status == errSecItemNotFound)
            add(["v_Ref": key])
            let other = addReturning(
                item(cert, ["v_Data": SecCertificateCopyData(first), "slnr": data("other"), "r_PersistentRef": true]))
            #expect(copy(item(idnt, ["r_Attributes": true]).with(.all)).list?.count == 2)
            // The same certificate with two keys of one pair forms two identities. They are deleted together.
            add(["v_Ref": key, "atag": data("again")])
            #expect(copy(item(idnt, ["slnr": data("other"), "r_Attributes": true]).with(.all)).list?.count == 2)
            #expect(delete(item(keys, ["atag": data("again")])) == errSecSuccess)
            #expect(delete(["v_Ref": identity]) == errSecSuccess)
            #expect(copy(["v_Ref": key]).status == errSecSuccess)
            #expect(copy(item(idnt)).status == errSecSuccess)
            #expect(delete(["v_PersistentRef": try #require(other.data)]) == errSecSuccess)
            #expect(copy(["v_Ref": key]).status == errSecSuccess)
            var found: SecIdentity?
            #expect(SecIdentityCreateWithCertificate(nil, first, &found) == errSecSuccess && found == identity)
            #expect(SecIdentityCreateWithCertificate(nil, root, &found) == errSecItemNotFound)
            #expect(SecIdentityCreate(nil, root, key) == nil && SecIdentityCreate(nil, first, publicKey) == nil)
        }
    }
}
