// SPDX-License-Identifier: Apache-2.0

import Security
import Testing

/// Creation rules and operation tables (keychain-behaviour §5.4, rows T195–T200). The tables are
/// read from the description, as by a client.
@Suite("SecAccessControl")
struct AccessControlTests {
    // MARK: Refusals

    @Test("T195: `or` combined with `and` is refused")
    func orWithAnd() {
        expectRefusal(flags: [.or, .and], naming: "`or` and `and`")
        expectRefusal(flags: [.or, .and, .biometryAny, .devicePasscode], naming: "`or` and `and`")
    }

    @Test("T196: biometryAny combined with biometryCurrentSet is refused")
    func bothBiometries() {
        expectRefusal(flags: [.biometryAny, .biometryCurrentSet], naming: "`biometryAny` and `biometryCurrentSet`")
        expectRefusal(flags: [.touchIDAny, .or, .touchIDCurrentSet], naming: "`biometryAny` and `biometryCurrentSet`")
    }

    @Test(
        "T197: userPresence combined with a constraint, with `or` or with `and` is refused",
        arguments: [.devicePasscode, .biometryAny, .biometryCurrentSet, .watch, .or, .and, .latchkeySecurityKey]
            as [SecAccessControlCreateFlags]
    )
    func userPresenceIsAlone(flag: SecAccessControlCreateFlags) {
        expectRefusal(flags: [.userPresence, flag], naming: "userPresence")
    }

    @Test("T198: a missing or unknown protection is refused")
    func unknownProtection() {
        expectRefusal(protection: nil, naming: "missing")
        for code in ["", "xx", "AK", "ak ", "akp", "syna"] {
            expectRefusal(protection: code, naming: "\"\(code)\"")
        }
        expectRefusal(protection: Data("ak".utf8), naming: "Data")
        expectRefusal(protection: ["prot": "ak"], naming: "Dictionary")
        expectRefusal(protection: 6, naming: "Int")
    }

    @Test(
        "an unknown flag is refused, because ignoring it would protect less",
        arguments: [2, 6, 13, 16, 29, 32, 47, 49, 63])
    func unknownFlag(bit: Int) {
        expectRefusal(flags: [.userPresence, SecAccessControlCreateFlags(rawValue: 1 << bit)], naming: "unknown flags")
    }

    @Test("a refusal is possible without an error pointer")
    func refusalWithoutErrorPointer() {
        #expect(SecAccessControlCreateWithFlags(nil, nil, [], nil) == nil)
    }

    // MARK: Operation tables

    @Test(
        "T199: without flags every operation is allowed",
        arguments: ["ak", "ck", "dk", "aku", "cku", "dku", "akpu", "f"])
    func noFlags(protection: String) throws {
        let control = try #require(SecAccessControlCreateWithFlags(nil, protection, [], nil))
        #expect(control.description == "<SecAccessControl: \(protection); default: allowed>")
    }

    @Test(
        "T200: privateKeyUsage alone allows signing and agreement without a constraint, but not reading")
    func privateKeyUsage() throws {
        #expect(
            try table([.privateKeyUsage])
                == "sign: allowed; compute key: allowed; decapsulate: allowed; attest: allowed; delete: allowed"
        )
    }

    @Test(
        "one constraint protects reading, but not writing or deletion",
        arguments: [
            (.userPresence, "user presence"),
            (.devicePasscode, "passcode"),
            (.biometryAny, "any biometry"),
            (.biometryCurrentSet, "current biometry"),
            (.companion, "companion"),
            (.latchkeySecurityKey, "security key"),
            ([.devicePasscode, .or], "passcode"),
            ([.devicePasscode, .and], "passcode"),
        ] as [(SecAccessControlCreateFlags, String)]
    )
    func oneConstraint(flags: SecAccessControlCreateFlags, constraint: String) throws {
        #expect(try table(flags) == "decrypt: \(constraint); encrypt: allowed; delete: allowed")
    }

    @Test(
        "several constraints are all required, or any one of them with `or`",
        arguments: [
            ([.devicePasscode, .biometryAny], "2 of (passcode, any biometry)"),
            ([.devicePasscode, .biometryAny, .and], "2 of (passcode, any biometry)"),
            ([.devicePasscode, .biometryCurrentSet, .or], "1 of (passcode, current biometry)"),
            ([.devicePasscode, .latchkeySecurityKey, .or], "1 of (passcode, security key)"),
            ([.devicePasscode, .biometryAny, .companion], "3 of (passcode, any biometry, companion)"),
        ] as [(SecAccessControlCreateFlags, String)]
    )
    func severalConstraints(flags: SecAccessControlCreateFlags, constraint: String) throws {
        #expect(try table(flags) == "decrypt: \(constraint); encrypt: allowed; delete: allowed")
    }

    @Test("with privateKeyUsage a constraint protects signing and agreement, but not attestation or deletion")
    func constrainedPrivateKey() throws {
        #expect(
            try table([.privateKeyUsage, .userPresence])
                == "sign: user presence; compute key: user presence; decapsulate: user presence; attest: allowed; delete: allowed"
        )
    }

    @Test("an application password is added to the table and changes no entry")
    func applicationPassword() throws {
        #expect(try table([.applicationPassword]) == "default: allowed; application password")
        #expect(
            try table([.applicationPassword, .userPresence])
                == "decrypt: user presence; encrypt: allowed; delete: allowed; application password"
        )
    }

    // MARK: Objects

    @Test("two access controls with the same conditions are equal")
    func equality() throws {
        let flags: [SecAccessControlCreateFlags] = [
            [], .userPresence, .devicePasscode, .applicationPassword, .privateKeyUsage,
        ]
        let controls = try flags.map {
            try #require(SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, $0, nil))
        }
        #expect(Set(controls).count == flags.count)
        for (control, flags) in zip(controls, flags) {
            #expect(control == SecAccessControlCreateWithFlags(nil, "ak", flags, nil))
            #expect(control != SecAccessControlCreateWithFlags(nil, "aku", flags, nil))
            #expect(CFEqual(control, SecAccessControlCreateWithFlags(nil, "ak", flags, nil)))
        }
        // `and` is the behavior without any flag.
        #expect(
            SecAccessControlCreateWithFlags(nil, "ak", [.biometryAny, .devicePasscode], nil)
                == SecAccessControlCreateWithFlags(nil, "ak", [.biometryAny, .devicePasscode, .and], nil)
        )
    }

    @Test("the flags have Apple's bits, and that of the security key is above them")
    func bits() {
        #expect(SecAccessControlCreateFlags.userPresence.rawValue == 1)
        #expect(SecAccessControlCreateFlags.biometryAny.rawValue == 2)
        #expect(SecAccessControlCreateFlags.biometryCurrentSet.rawValue == 8)
        #expect(SecAccessControlCreateFlags.devicePasscode.rawValue == 16)
        #expect(SecAccessControlCreateFlags.watch.rawValue == 32)
        #expect(SecAccessControlCreateFlags.companion.rawValue == 32)
        #expect(SecAccessControlCreateFlags.or.rawValue == 0x4000)
        #expect(SecAccessControlCreateFlags.and.rawValue == 0x8000)
        #expect(SecAccessControlCreateFlags.privateKeyUsage.rawValue == 0x4000_0000)
        #expect(SecAccessControlCreateFlags.applicationPassword.rawValue == 0x8000_0000)
        #expect(SecAccessControlCreateFlags.latchkeySecurityKey.rawValue == 0x1_0000_0000_0000)
    }
}

// MARK: - Helpers

extension AccessControlTests {
    /// Returns the operation table of an access control with the protection `ak`, as its
    /// description prints it.
    private func table(_ flags: SecAccessControlCreateFlags) throws -> String {
        let control = try #require(
            SecAccessControlCreateWithFlags(kCFAllocatorDefault, kSecAttrAccessibleWhenUnlocked, flags, nil))
        let prefix = "<SecAccessControl: ak; "
        try #require(control.description.hasPrefix(prefix))
        return String(control.description.dropFirst(prefix.count).dropLast())
    }

    private func expectRefusal(
        protection: Any? = kSecAttrAccessibleWhenUnlocked,
        flags: SecAccessControlCreateFlags = [],
        naming words: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        var error: Unmanaged<CFError>?
        #expect(SecAccessControlCreateWithFlags(nil, protection, flags, &error) == nil, sourceLocation: sourceLocation)
        let refusal = error?.takeRetainedValue()
        #expect(refusal?.domain == NSOSStatusErrorDomain, sourceLocation: sourceLocation)
        #expect(refusal?.code == -50, sourceLocation: sourceLocation)
        #expect(
            refusal?.localizedDescription.contains(words) == true, "\(String(describing: refusal))",
            sourceLocation: sourceLocation)
    }
}
