// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import Testing

@Suite("Access constraints")
struct AccessConstraintsTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let flags: AccessControlFlags
        let terms: [AccessConstraint]
        let threshold: AccessConstraints.Threshold
        var testDescription: String { "\(flags.rawValue)" }
    }

    static let rows = [
        Row(flags: .userPresence, terms: [.userPresence], threshold: .all),
        Row(flags: .devicePasscode, terms: [.devicePasscode], threshold: .all),
        Row(flags: [.devicePasscode, .or], terms: [.devicePasscode], threshold: .all),
        Row(flags: [.devicePasscode, .biometryAny, .or], terms: [.devicePasscode, .biometryAny], threshold: .one),
        Row(flags: [.devicePasscode, .biometryAny, .and], terms: [.devicePasscode, .biometryAny], threshold: .all),
        Row(flags: [.devicePasscode, .biometryAny], terms: [.devicePasscode, .biometryAny], threshold: .all),
        Row(
            flags: [.biometryCurrentSet, .latchkeySecurityKey, .or, .privateKeyUsage],
            terms: [.biometryCurrentSet, .securityKey], threshold: .one),
        Row(flags: [.userPresence, .applicationPassword], terms: [.userPresence], threshold: .all),
        Row(flags: .applicationPassword, terms: [], threshold: .all),
    ]

    @Test(
        "Flags are parsed into terms and a threshold: one for several terms with `or`, all otherwise", arguments: rows)
    func terms(_ row: Row) throws {
        let constraints = try #require(try AccessConstraints.parse(row.flags))
        #expect(constraints.terms == row.terms && constraints.threshold == row.threshold)
        #expect(constraints.requiresApplicationPassword == row.flags.contains(.applicationPassword))
        #expect(constraints.appliesToPrivateKeyUsage == row.flags.contains(.privateKeyUsage))
    }

    @Test("Operators and privateKeyUsage alone are no constraints", arguments: [0, 1 << 14, 1 << 15, 1 << 30])
    func none(_ bits: UInt64) throws {
        let flags = AccessControlFlags(rawValue: bits)
        #expect(try AccessConstraints.parse(flags) == nil)
        #expect(!flags.hasConstraints)
    }

    static let refused: [(AccessControlFlags, String)] = [
        ([.or, .and, .devicePasscode], "both operators"),
        ([.biometryAny, .biometryCurrentSet], "both biometryAny and biometryCurrentSet"),
        ([.userPresence, .devicePasscode], "userPresence can only"),
        ([.userPresence, .latchkeySecurityKey, .or], "userPresence can only"),
        (AccessControlFlags(rawValue: 1 << 5), "watch (bit 5)"),
        (AccessControlFlags(rawValue: 1 << 2 | 1 << 63), "bit 2, bit 63"),
    ]

    @Test("T195, T196, T197: flags that cannot be combined or are unsupported are refused by name", arguments: refused)
    func refusals(_ flags: AccessControlFlags, _ text: String) {
        #expect {
            _ = try AccessConstraints.parse(flags)
        } throws: { error in
            guard let error = error as? KeychainError else { return false }
            return error.status == .param && error.problem.contains(text)
        }
    }

    @Test("Every single bit is either parsed or refused; none is ignored", arguments: 0..<64)
    func everyBit(_ bit: Int) {
        let flags = AccessControlFlags(rawValue: 1 << UInt64(bit))
        let isOperator = [14, 15, 30].contains(bit)
        let isSupported = isOperator || [0, 1, 3, 4, 31, 48].contains(bit)
        do {
            let parsed = try AccessConstraints.parse(flags)
            #expect(isSupported && (parsed == nil) == isOperator)
        } catch {
            #expect(!isSupported)
        }
        #expect(flags.hasConstraints == !isOperator)
    }

    @Test("An enrolled set has a digest of 32 bytes", arguments: [0, 31, 33])
    func enrolledSet(_ count: Int) {
        #expect(EnrolledSet(digest: Array(repeating: 1, count: count)) == nil)
        #expect(EnrolledSet(digest: Array(repeating: 1, count: 32)) != nil)
    }
}
