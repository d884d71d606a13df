// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import Testing

/// Tests the status table. Programs that use Apple's numbers depend on it: names and numbers are fixed, and each
/// message identifies one status.
@Suite("OSStatus table")
struct OSStatusTableTests {
    // MARK: The table as a whole

    @Test("the table holds Apple's 381 public names, 10 private ones, and 74 of TLS")
    func count() {
        let unpublished: Set<String> = [
            "errSecMPSignatureInvalid", "errSecOTRTooOld", "errSecOTRIDTooNew", "errSecAuthNeeded",
            "errSecPeersNotAvailable",
            "errSecErrorStringNotAvailable", "errSecPolicyDenied", "errSecInternal", "errSecWaitForCallback",
            "errSecUpgradePending",
        ]
        #expect(OSStatusCode.all.count == 465)
        #expect(unpublished.isSubset(of: Set(OSStatusCode.all.map(\.name))))
        #expect(OSStatusCode.all.filter { !unpublished.contains($0.name) && $0.name.hasPrefix("errSec") }.count == 381)
        #expect(OSStatusCode.all.filter { $0.name.hasPrefix("errSSL") }.count == 74)
    }

    @Test("names, numbers and messages are unique")
    func entriesAreDistinct() {
        #expect(repeated(OSStatusCode.all.map(\.name)).isEmpty)
        #expect(repeated(OSStatusCode.all.map(\.code.rawValue)).isEmpty)
        #expect(repeated(OSStatusCode.all.map(\.message)).isEmpty)
    }

    @Test("entries are in descending order of their numbers, success first")
    func order() {
        let numbers = OSStatusCode.all.map(\.code.rawValue)
        #expect(numbers == numbers.sorted(by: >))
        #expect(numbers.first == 0)
    }

    @Test("the number ranges of TLS, of the keychain and of general statuses have no gaps")
    func ranges() {
        let numbers = Set(OSStatusCode.all.map(\.code.rawValue))
        for range in [-9865 ... -9800, -9886 ... -9880, -25320 ... -25291, -67904 ... -67585] as [ClosedRange<Int32>] {
            #expect(range.filter { !numbers.contains($0) }.isEmpty)
        }
    }

    @Test("a name begins with errSec or errSSL, a message is a phrase: lower case, no final period")
    func style() {
        for entry in OSStatusCode.all {
            #expect(["errSec", "errSSL"].contains(entry.name.prefix(6)) && entry.name.count > 6, "\(entry)")

            let words = entry.message.split(separator: " ", omittingEmptySubsequences: false)
            #expect(!entry.message.isEmpty && words.allSatisfy { !$0.isEmpty }, "\(entry)")
            #expect(entry.message.allSatisfy { $0.isASCII && !$0.isNewline }, "\(entry)")
            #expect(!entry.message.hasSuffix("."), "\(entry)")

            let first = words.first.map(String.init) ?? ""
            #expect(first == first.lowercased() || Self.properNouns.contains(first), "\(entry)")
        }
    }

    @Test("a lookup by number finds the entry of the status")
    func lookup() {
        for entry in OSStatusCode.all {
            let code = OSStatusCode(rawValue: entry.code.rawValue)
            #expect(code.name == entry.name)
            #expect(code.message == entry.message)
            #expect(code.description == "\(entry.name) (\(entry.code.rawValue))")
        }
    }

    @Test("only success exits with 0")
    func onlySuccessExitsWithZero() {
        #expect(OSStatusCode.all.filter { $0.code.exitCode == 0 }.map(\.code) == [.success])
    }

    // MARK: Single statuses

    @Test("a status that programs test for has Apple's number, name and exit value", arguments: Known.all)
    func known(status: Known) {
        let code = OSStatusCode(rawValue: status.number)
        #expect(code == status.code)
        #expect(code.name == status.name)
        #expect(code.exitCode == status.exit)
    }

    @Test("a static member outside the list of known statuses has Apple's number", arguments: Member.all)
    func members(member: Member) {
        #expect(member.code.rawValue == member.number)
        #expect(member.code.name == member.name)
    }

    @Test("a message describes its status")
    func messages() {
        #expect(OSStatusCode.success.message == "no error")
        #expect(OSStatusCode.itemNotFound.message == "no matching item")
        #expect(OSStatusCode.interactionNotAllowed.message == "locked, or interaction is not allowed")
        #expect(OSStatusCode.missingEntitlement.message == "the required entitlement is missing")
    }

    @Test(
        "an unknown status keeps its number, has no name or message, and exits with a failure",
        arguments: UnknownStatus.all)
    func unknown(status: UnknownStatus) {
        let code = OSStatusCode(rawValue: status.number)
        #expect(code.rawValue == status.number)
        #expect(code.name == nil)
        #expect(code.message == nil)
        #expect(code.description == "OSStatus \(status.number)")
        #expect(code.exitCode == status.exit)
    }

    @Test("a failure with a number divisible by 256 does not exit with 0")
    func multipleOf256() {
        let code = OSStatusCode(rawValue: -67840)
        #expect(code.name == "errSecInvalidStopOnPolicy")
        #expect(code.exitCode == 1)
    }

    @Test("numbers and codes can be matched in a switch")
    func patterns() {
        func kind(of status: Int32) -> String {
            switch status {
            case OSStatusCode.success: "success"
            case OSStatusCode.itemNotFound: "not found"
            default: "other"
            }
        }
        func kind(of code: OSStatusCode) -> String {
            switch code {
            case .success: "success"
            case .itemNotFound: "not found"
            default: "other"
            }
        }
        for (number, expected) in [(0, "success"), (-25300, "not found"), (-25299, "other"), (-1234, "other")]
            as [(Int32, String)]
        {
            #expect(kind(of: number) == expected)
            #expect(kind(of: OSStatusCode(rawValue: number)) == expected)
        }
    }

    // MARK: Helpers

    /// Words that are capitalized at the start of a message.
    private static let properNouns: Set<String> = ["PKCS#12", "TLS", "App"]

    private func repeated<Value: Hashable>(_ values: [Value]) -> [Value] {
        var seen: Set<Value> = []
        return values.filter { !seen.insert($0).inserted }
    }
}

// MARK: - Cases

extension OSStatusTableTests {
    /// A status that scripts and programs rely on, from the specification's table.
    struct Known: Sendable, CustomTestStringConvertible {
        let code: OSStatusCode
        let name: String
        let number: Int32
        let exit: UInt8

        var testDescription: String { name }

        static let all: [Known] = [
            Known(code: .success, name: "errSecSuccess", number: 0, exit: 0),
            Known(code: .unimplemented, name: "errSecUnimplemented", number: -4, exit: 252),
            Known(code: .diskFull, name: "errSecDiskFull", number: -34, exit: 222),
            Known(code: .io, name: "errSecIO", number: -36, exit: 220),
            Known(code: .param, name: "errSecParam", number: -50, exit: 206),
            Known(code: .userCanceled, name: "errSecUserCanceled", number: -128, exit: 128),
            Known(code: .notAvailable, name: "errSecNotAvailable", number: -25291, exit: 53),
            Known(code: .authFailed, name: "errSecAuthFailed", number: -25293, exit: 51),
            Known(code: .noSuchKeychain, name: "errSecNoSuchKeychain", number: -25294, exit: 50),
            Known(code: .invalidKeychain, name: "errSecInvalidKeychain", number: -25295, exit: 49),
            Known(code: .duplicateItem, name: "errSecDuplicateItem", number: -25299, exit: 45),
            Known(code: .itemNotFound, name: "errSecItemNotFound", number: -25300, exit: 44),
            Known(code: .noDefaultKeychain, name: "errSecNoDefaultKeychain", number: -25307, exit: 37),
            Known(code: .interactionNotAllowed, name: "errSecInteractionNotAllowed", number: -25308, exit: 36),
            Known(code: .decode, name: "errSecDecode", number: -26275, exit: 93),
            Known(code: .missingEntitlement, name: "errSecMissingEntitlement", number: -34018, exit: 30),
            Known(code: .verifyFailed, name: "errSecVerifyFailed", number: -67808, exit: 32),
            Known(code: .databaseLocked, name: "errSecDatabaseLocked", number: -67869, exit: 227),
        ]
    }

    /// A static member of `OSStatusCode` that is not in `Known`.
    struct Member: Sendable, CustomTestStringConvertible {
        let code: OSStatusCode
        let name: String
        let number: Int32

        var testDescription: String { name }

        static let all: [Member] = [
            Member(code: .writePermission, name: "errSecWrPerm", number: -61),
            Member(code: .allocate, name: "errSecAllocate", number: -108),
            Member(code: .readOnly, name: "errSecReadOnly", number: -25292),
            Member(code: .dataTooLarge, name: "errSecDataTooLarge", number: -25302),
            Member(code: .noSuchAttribute, name: "errSecNoSuchAttr", number: -25303),
            Member(code: .noSuchClass, name: "errSecNoSuchClass", number: -25306),
            Member(code: .wrongSecVersion, name: "errSecWrongSecVersion", number: -25310),
            Member(code: .internalFailure, name: "errSecInternal", number: -26276),
            Member(code: .restrictedAPI, name: "errSecRestrictedAPI", number: -34020),
            Member(code: .serviceNotAvailable, name: "errSecServiceNotAvailable", number: -67585),
            Member(code: .invalidData, name: "errSecInvalidData", number: -67673),
        ]
    }

    /// A number that is not in the table.
    struct UnknownStatus: Sendable, CustomTestStringConvertible {
        let number: Int32
        let exit: UInt8

        var testDescription: String { "\(number)" }

        static let all: [UnknownStatus] = [
            UnknownStatus(number: -1234, exit: 46),
            UnknownStatus(number: -1, exit: 255),
            UnknownStatus(number: 1, exit: 1),
            UnknownStatus(number: 256, exit: 1),
            UnknownStatus(number: -512, exit: 1),
            UnknownStatus(number: .max, exit: 255),
            UnknownStatus(number: .min, exit: 1),
        ]
    }
}
