// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import Security
import Testing

/// Policies return their properties, and can be created again from them.
@Suite("SecPolicy")
struct SecPolicyTests {
    private static func policy(_ identifier: CFString, _ properties: [CFString: Any] = [:]) throws -> SecPolicy {
        try #require(SecPolicyCreateWithProperties(identifier, properties as CFDictionary))
    }

    @Test("A policy can be created again from its own properties")
    func properties() throws {
        var policies: [SecPolicy] = [SecPolicyCreateBasicX509()]
        for name in ["example.com", nil, "192.0.2.1", "bücher"] as [String?] {
            policies.append(SecPolicyCreateSSL(true, name as CFString?))
        }
        policies.append(SecPolicyCreateSSL(false, nil))
        for identifier in [
            kSecPolicyAppleSMIME, kSecPolicyAppleCodeSigning, kSecPolicyAppleTimeStamping, kSecPolicyAppleIPsec,
            kSecPolicyAppleEAP,
            kSecPolicyMacAppStoreReceipt, kSecPolicyAppleIDValidation, kSecPolicyAppleRevocation,
        ] {
            policies.append(try Self.policy(identifier))
        }
        let name = "a.example"
        policies.append(try Self.policy(kSecPolicyAppleSMIME, [kSecPolicyName: "a@example.com"]))
        policies.append(try Self.policy(kSecPolicyAppleIPsec, [kSecPolicyName: name]))
        policies.append(try Self.policy(kSecPolicyAppleIPsec, [kSecPolicyName: name, kSecPolicyClient: true]))
        policies.append(try Self.policy(kSecPolicyAppleEAP, [kSecPolicyClient: true]))
        policies.append(try Self.policy(kSecPolicyAppleEAP, [kSecPolicyName: name]))
        policies.append(try Self.policy(kSecPolicyAppleEAP, [kSecPolicyName: [name, "*.b.example"]]))
        policies.append(try Self.policy(kSecPolicyApplePassbookSigning, [kSecPolicyTeamIdentifier: "T"]))
        policies.append(
            try Self.policy(kSecPolicyApplePassbookSigning, [kSecPolicyTeamIdentifier: "T", kSecPolicyName: "pass.a"]))
        policies.append(
            try Self.policy(kSecPolicyAppleX509Basic, [kSecPolicyKU_KeyCertSign: true, kSecPolicyKU_CRLSign: true]))
        policies.append(
            try Self.policy(kSecPolicyAppleSSL, [kSecPolicyName: name, kSecPolicyKU_DigitalSignature: true]))
        for policy in policies {
            let told = try #require(SecPolicyCopyProperties(policy))
            let identifier = try #require(told[kSecPolicyOid])
            let again = try #require(SecPolicyCreateWithProperties(identifier, told))
            #expect(again == policy && again.hash == policy.hash)
            #expect(policies.count { $0 == policy } == 1)
        }
        let server = try #require(SecPolicyCopyProperties(policies[1]))
        #expect(server[kSecPolicyOid] as? String == "1.2.840.113635.100.1.3")
        #expect(server[kSecPolicyName] as? String == "example.com" && server[kSecPolicyClient] == nil)
        #expect(SecPolicyCopyProperties(policies[5])?[kSecPolicyClient] as? Bool == true)
        #expect(CFGetTypeID(policies[0]) == SecPolicyGetTypeID())
    }

    @Test("Unknown identifiers and properties give no policy")
    func unknown() {
        #expect(SecPolicyCreateWithProperties("1.2.3", nil) == nil)
        // A pass policy requires a team.
        #expect(SecPolicyCreateWithProperties(kSecPolicyApplePassbookSigning, nil) == nil)
        #expect(
            SecPolicyCreateWithProperties(kSecPolicyAppleIPsec, [kSecPolicyName: ["a.example"]] as CFDictionary) == nil)
        #expect(SecPolicyCreateWithProperties(kSecPolicyAppleEAP, [kSecPolicyName: [5]] as CFDictionary) == nil)
        #expect(
            SecPolicyCreateWithProperties(kSecPolicyAppleX509Basic, [kSecPolicyKU_CRLSign: "yes"] as CFDictionary)
                == nil)
        #expect(SecPolicyCreateWithProperties(5, nil) == nil)
        for properties in [
            [kSecPolicyName: 5], [kSecPolicyClient: "yes"], ["Unknown": "a"], [kSecPolicyTeamIdentifier: "a"],
        ] as [[AnyHashable: Any]] {
            #expect(SecPolicyCreateWithProperties(kSecPolicyAppleSSL, properties as CFDictionary) == nil)
        }
        #expect(
            SecPolicyCreateWithProperties(kSecPolicyAppleX509Basic, [kSecPolicyName: "example.com"] as CFDictionary)
                == nil)
    }

    /// Every declared identifier, with the properties that its policy requires.
    private static var declared: [(CFString, CFDictionary?)] {
        [
            (kSecPolicyAppleX509Basic, nil), (kSecPolicyAppleSSL, nil), (kSecPolicyAppleSMIME, nil),
            (kSecPolicyAppleCodeSigning, nil),
            (kSecPolicyAppleTimeStamping, nil), (kSecPolicyAppleRevocation, nil), (kSecPolicyAppleEAP, nil),
            (kSecPolicyAppleIPsec, nil),
            (kSecPolicyAppleIDValidation, nil), (kSecPolicyMacAppStoreReceipt, nil),
            (kSecPolicyApplePassbookSigning, [kSecPolicyTeamIdentifier: "TEAM"] as CFDictionary),
        ]
    }

    @Test("Every declared identifier creates a policy, and no two create the same policy")
    func identifiers() throws {
        let policies = try Self.declared.map { try #require(SecPolicyCreateWithProperties($0.0, $0.1), "\($0.0)") }
        #expect(Set(policies).count == policies.count)
        // The list above is complete: the file of the constants declares no other identifier.
        let source = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Sources/Faces/LatchkeySecurity/Trust/SecPolicyConstants.swift")
        let text = try String(contentsOf: source, encoding: .utf8)
        let identifiers = text.matches(of: /CFString = "(1\.2\.840\.113635\.100\.1\.[0-9]+)"/).map { String($0.1) }
        #expect(Set(identifiers) == Set(Self.declared.map { $0.0 as String }))
        #expect(identifiers.count == Self.declared.count)
        let flags = SecPolicyCopyProperties(try #require(SecPolicyCreateWithProperties(kSecPolicyAppleRevocation, nil)))
        #expect(flags?[kSecPolicyRevocationFlags] as? Int == Int(kSecRevocationUseAnyAvailableMethod))
    }

    @Test("A CA certificate is refused as the leaf of a policy that names a purpose")
    func intermediates() throws {
        let authority = try OpenSSLAuthority()
        let certificates = try [authority.intermediate, authority.root].map {
            try #require(SecCertificateCreateWithData(nil, $0.der as CFData))
        }
        for (identifier, properties) in Self.declared {
            let policy = try #require(SecPolicyCreateWithProperties(identifier, properties))
            var made: SecTrust?
            #expect(SecTrustCreateWithCertificates(certificates[0], policy, &made) == errSecSuccess)
            let trust = try #require(made)
            #expect(SecTrustSetAnchorCertificates(trust, [certificates[1]] as CFArray) == errSecSuccess)
            #expect(SecTrustSetNetworkFetchAllowed(trust, false) == errSecSuccess)
            let isForAny = [kSecPolicyAppleX509Basic, kSecPolicyAppleRevocation].contains(identifier)
            #expect(SecTrustEvaluateWithError(trust, nil) == isForAny, "\(identifier)")
        }
    }

    @Test("A policy with key usages requires one of them in the leaf")
    func keyUsages() throws {
        let authority = try OpenSSLAuthority()
        let leaf = try #require(SecCertificateCreateWithData(nil, try authority.server("example.com").der as CFData))
        let intermediate = try #require(SecCertificateCreateWithData(nil, authority.intermediate.der as CFData))
        let root = try #require(SecCertificateCreateWithData(nil, authority.root.der as CFData))
        func isTrusted(_ properties: [CFString: Any]) throws -> Bool {
            let policy = try #require(SecPolicyCreateWithProperties(kSecPolicyAppleSSL, properties as CFDictionary))
            var made: SecTrust?
            SecTrustCreateWithCertificates([leaf, intermediate], policy, &made)
            let trust = try #require(made)
            SecTrustSetAnchorCertificates(trust, [root] as CFArray)
            return SecTrustEvaluateWithError(trust, nil)
        }
        #expect(try isTrusted([:]))
        #expect(try isTrusted([kSecPolicyKU_DigitalSignature: true]))
        #expect(try isTrusted([kSecPolicyKU_DigitalSignature: true, kSecPolicyKU_CRLSign: true]))
        #expect(try isTrusted([kSecPolicyKU_DigitalSignature: false, kSecPolicyKU_CRLSign: false]))
        #expect(try !isTrusted([kSecPolicyKU_CRLSign: true]))
        #expect(try !isTrusted([kSecPolicyName: "other.example", kSecPolicyKU_DigitalSignature: true]))
    }
}
