// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security
import Testing

/// Policies tell what they are, and are made again from what they tell.
@Suite("SecPolicy")
struct SecPolicyTests {
    @Test("A policy is made again from its own properties")
    func properties() throws {
        let policies = [
            SecPolicyCreateBasicX509(), SecPolicyCreateSSL(true, "example.com" as CFString), SecPolicyCreateSSL(true, nil),
            SecPolicyCreateSSL(false, nil), SecPolicyCreateSSL(true, "192.0.2.1" as CFString),
            SecPolicyCreateSSL(true, "bücher" as CFString),
            try #require(SecPolicyCreateWithProperties(kSecPolicyAppleSMIME, [kSecPolicyName: "a@example.com"] as CFDictionary)),
            try #require(SecPolicyCreateWithProperties(kSecPolicyAppleSMIME, nil)),
            try #require(SecPolicyCreateWithProperties(kSecPolicyAppleCodeSigning, nil)),
            try #require(SecPolicyCreateWithProperties(kSecPolicyAppleTimeStamping, nil)),
        ]
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
        #expect(SecPolicyCopyProperties(policies[3])?[kSecPolicyClient] as? Bool == true)
        #expect(CFGetTypeID(policies[0]) == SecPolicyGetTypeID())
    }

    @Test("What is not understood is no policy")
    func unknown() {
        #expect(SecPolicyCreateWithProperties("1.2.3", nil) == nil)
        #expect(SecPolicyCreateWithProperties(kSecPolicyAppleIPsec, nil) == nil)
        #expect(SecPolicyCreateWithProperties(5, nil) == nil)
        for properties in [
            [kSecPolicyName: 5], [kSecPolicyClient: "yes"], ["Unknown": "a"], [kSecPolicyTeamIdentifier: "a"],
        ] as [[AnyHashable: Any]] {
            #expect(SecPolicyCreateWithProperties(kSecPolicyAppleSSL, properties as CFDictionary) == nil)
        }
        #expect(SecPolicyCreateWithProperties(kSecPolicyAppleX509Basic, [kSecPolicyName: "example.com"] as CFDictionary) == nil)
    }
}
