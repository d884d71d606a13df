// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import LocalAuthentication
import Testing

@Suite("Policies of LAContext")
struct PolicyTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let policy: LAPolicy
        let status: PresenceStatus
        /// nil if the policy can be evaluated.
        let code: LAError.Code?

        init(_ name: String, _ policy: LAPolicy, _ status: PresenceStatus, _ code: LAError.Code?) {
            (testDescription, self.policy, self.status, self.code) = (name, policy, status, code)
        }
    }

    static let askable = [PresenceStatus.Method(name: "pinentry", factors: ["the passcode"])]
    static let silent = [
        PresenceStatus.Method(
            name: "pinentry", factors: ["the passcode"], problem: "there is no terminal", hint: "run it in a terminal")
    ]

    static func status(
        _ biometry: PresenceStatus.Biometry, passcode: Bool = true, methods: [PresenceStatus.Method] = askable
    ) -> PresenceStatus {
        PresenceStatus(methods: methods, hasPasscode: passcode, biometry: biometry)
    }

    static let biometric: [LAPolicy] = [
        .deviceOwnerAuthenticationWithBiometrics, .deviceOwnerAuthenticationWithBiometricsOrCompanion,
    ]

    static let cases: [Case] =
        biometric.flatMap { policy in
            [
                Case("biometry, available", policy, status(.available), nil),
                Case("biometry, no sensor", policy, status(.notAvailable), .biometryNotAvailable),
                Case("biometry, not enrolled", policy, status(.notEnrolled), .biometryNotEnrolled),
                Case("biometry, locked out", policy, status(.lockedOut), .biometryLockout),
                Case("biometry, key not held", policy, status(.needsPasscode), .biometryNotAvailable),
                Case("no key, no passcode", policy, status(.needsPasscode, passcode: false), .passcodeNotSet),
                Case("biometry, no passcode", policy, status(.available, passcode: false), .passcodeNotSet),
                // The order of Apple's LAContext.h: errors of the sensor come first.
                Case("no sensor, no passcode", policy, status(.notAvailable, passcode: false), .biometryNotAvailable),
                Case("biometry needs no terminal", policy, status(.available, methods: silent), nil),
            ]
        } + [
            Case("owner, passcode", .deviceOwnerAuthentication, status(.notAvailable), nil),
            Case("owner, biometry locked out", .deviceOwnerAuthentication, status(.lockedOut), nil),
            Case("owner, biometry key not held", .deviceOwnerAuthentication, status(.needsPasscode), nil),
            Case(
                "owner, biometry key not held, no terminal", .deviceOwnerAuthentication,
                status(.needsPasscode, methods: silent), .notInteractive),
            Case(
                "owner, no passcode", .deviceOwnerAuthentication, status(.available, passcode: false), .passcodeNotSet),
            Case(
                "owner, no terminal", .deviceOwnerAuthentication, status(.notEnrolled, methods: silent), .notInteractive
            ),
            Case("owner, no method", .deviceOwnerAuthentication, status(.notEnrolled, methods: []), .notInteractive),
            Case("owner, only biometry", .deviceOwnerAuthentication, status(.available, methods: silent), nil),
            Case(
                "companion", .deviceOwnerAuthenticationWithCompanion, status(.available), .companionNotAvailable),
            Case("no security key", .latchkeySecurityKey, status(.available), .companionNotAvailable),
            Case("security key", .latchkeySecurityKey, PresenceStatus(hasPasscode: true, securityKeys: 1), nil),
        ]

    @Test("canEvaluatePolicy answers by the status, with Apple's code", arguments: cases)
    func availability(_ row: Case) async {
        let keychain = FakeKeychain()
        keychain.change { $0.status = row.status }
        await keychain.run {
            let context = LAContext()
            var error: NSError? = NSError(domain: "earlier", code: 1)
            #expect(context.canEvaluatePolicy(row.policy, error: &error) == (row.code == nil))
            #expect((error as? LAError)?.code == row.code)
            #expect((error == nil) == (row.code == nil))
            #expect(context.canEvaluatePolicy(row.policy, error: nil) == (row.code == nil))
            #expect(keychain.prompts.isEmpty)
        }
    }

    @Test("An error names the missing method and the remedy")
    func hints() async {
        let keychain = FakeKeychain()
        keychain.change { $0.status = Self.status(.notEnrolled, methods: Self.silent) }
        await keychain.run {
            var error: NSError?
            LAContext().canEvaluatePolicy(.deviceOwnerAuthentication, error: &error)
            #expect(error?.localizedDescription.contains("pinentry: there is no terminal") == true)
            #expect(error?.localizedRecoverySuggestion == "run it in a terminal")
        }
    }

    @Test("While the key of biometry is not held, the hint says to unlock")
    func keyHint() async {
        let keychain = FakeKeychain()
        keychain.change { $0.status = Self.status(.needsPasscode) }
        await keychain.run {
            var error: NSError?
            LAContext().canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: &error)
            #expect(error?.localizedDescription.contains("passcode once") == true)
            #expect(error?.localizedRecoverySuggestion == "latchkey unlock")
        }
    }

    @Test("A keychain that cannot be reached is an error of NSOSStatusErrorDomain")
    func unreachable() async throws {
        let keychain = FakeKeychain()
        keychain.change { $0.statusError = .notAvailable }
        await keychain.run {
            var error: NSError?
            #expect(!LAContext().canEvaluatePolicy(.deviceOwnerAuthentication, error: &error))
            #expect(error?.domain == NSOSStatusErrorDomain && error?.code == -25291)
        }
    }

    @Test(
        "biometryType names the sensor after any result of canEvaluatePolicy",
        arguments: [
            (PresenceStatus.Biometry.available, LABiometryType.touchID), (.notEnrolled, .touchID),
            (.lockedOut, .touchID), (.needsPasscode, .touchID),
            (.notAvailable, LABiometryType.none),
        ])
    func biometryType(_ biometry: PresenceStatus.Biometry, _ expected: LABiometryType) async {
        let keychain = FakeKeychain()
        keychain.change { $0.status = Self.status(biometry) }
        await keychain.run {
            let context = LAContext()
            #expect(context.biometryType == .none)
            context.canEvaluatePolicy(.deviceOwnerAuthentication, error: nil)
            #expect(context.biometryType == expected)
        }
    }

    @Test("The domain state changes with the enrolled set, and is not the set's digest")
    func domainState() async throws {
        let keychain = FakeKeychain()
        try await keychain.run {
            let context = LAContext()
            #expect(context.evaluatedPolicyDomainState == nil)
            context.canEvaluatePolicy(.deviceOwnerAuthentication, error: nil)
            #expect(context.evaluatedPolicyDomainState == nil)
            context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: nil)
            let first = try #require(context.evaluatedPolicyDomainState)
            // SHA-256 of "latchkey v1 domain state" and the digest, 32 bytes of 1, by Python's hashlib.
            let expected = "5dfc5d3066f11b5422367738ae8725479c5c03c795f12431e194d814bd8dcf0c"
            #expect(first.map { String(format: "%02x", $0) }.joined() == expected)
            #expect(LAContext().evaluatedPolicyDomainState == nil)

            let other = LAContext()
            try await other.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "a test")
            #expect(other.evaluatedPolicyDomainState == first)

            keychain.change { $0.status.enrolledSet = EnrolledSet(digest: [UInt8](repeating: 2, count: 32)) }
            context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: nil)
            #expect(context.evaluatedPolicyDomainState != nil && context.evaluatedPolicyDomainState != first)
            keychain.change { $0.status.biometry = .notEnrolled }
            context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: nil)
            #expect(context.evaluatedPolicyDomainState == nil)
        }
    }
}
