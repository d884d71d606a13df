// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import Security
import Testing

/// Client code spells statuses as Apple's constants; the service answers with codes from the table. Both must mean the same number.
@Suite("OSStatus constants")
struct OSStatusConstantsTests {
    @Test("a constant has Apple's number, and that number has the constant's name in the table", arguments: Constant.sample)
    func constantAgreesWithTable(constant: Constant) {
        #expect(constant.value == constant.number)
        #expect(OSStatusCode(rawValue: constant.value).name == constant.name)
    }

    @Test("Apple's second names have the number of the status they stand for")
    func secondNames() {
        #expect(noErr == errSecSuccess)

        #expect(errSecItemInvalidKey == errSecParam)
        #expect(errSecItemIllegalQuery == errSecParam)
        #expect(errSecUseItemListUnsupported == errSecParam)
        #expect(errSecReturnPersitentRefUnsupported == errSecParam)
        #expect(errSecUnsupportedPadding == errSecParam)

        #expect(errSecUnsupportedAlgorithm == errSecUnimplemented)
        #expect(errSecUnsupportedOperation == errSecUnimplemented)
        #expect(errSecInvalidCertificate == errSecDecode)
        #expect(errSecInvalidKey == errSecDecode)

        #expect(errSecInvaldCRLAuthority == errSecInvalidCRLAuthority)
        #expect(errSecInvalidTupleCredendtials == errSecInvalidTupleCredentials)
    }
}

// MARK: - Cases

extension OSStatusConstantsTests {
    /// A constant of `Security`, with its name and Apple's number spelled out.
    struct Constant: Sendable, CustomTestStringConvertible {
        let name: String
        let value: OSStatus
        let number: Int32

        var testDescription: String { name }

        static let sample: [Constant] = [
            Constant(name: "errSecSuccess", value: errSecSuccess, number: 0),
            Constant(name: "errSecUnimplemented", value: errSecUnimplemented, number: -4),
            Constant(name: "errSecParam", value: errSecParam, number: -50),
            Constant(name: "errSecAllocate", value: errSecAllocate, number: -108),
            Constant(name: "errSecUserCanceled", value: errSecUserCanceled, number: -128),
            Constant(name: "errSecPkcs12VerifyFailure", value: errSecPkcs12VerifyFailure, number: -25264),
            Constant(name: "errSecNotAvailable", value: errSecNotAvailable, number: -25291),
            Constant(name: "errSecAuthFailed", value: errSecAuthFailed, number: -25293),
            Constant(name: "errSecDuplicateItem", value: errSecDuplicateItem, number: -25299),
            Constant(name: "errSecItemNotFound", value: errSecItemNotFound, number: -25300),
            Constant(name: "errSecInteractionNotAllowed", value: errSecInteractionNotAllowed, number: -25308),
            Constant(name: "errSecDecode", value: errSecDecode, number: -26275),
            Constant(name: "errSecMissingEntitlement", value: errSecMissingEntitlement, number: -34018),
            Constant(name: "errSecServiceNotAvailable", value: errSecServiceNotAvailable, number: -67585),
            Constant(name: "errSecHostNameMismatch", value: errSecHostNameMismatch, number: -67602),
            Constant(name: "errSecInvalidRecord", value: errSecInvalidRecord, number: -67701),
            Constant(name: "errSecVerifyFailed", value: errSecVerifyFailed, number: -67808),
            Constant(name: "errSecDatabaseLocked", value: errSecDatabaseLocked, number: -67869),
            Constant(name: "errSecTimestampMissing", value: errSecTimestampMissing, number: -67882),
            Constant(name: "errSecMissingQualifiedCertStatement", value: errSecMissingQualifiedCertStatement, number: -67904),
        ]
    }
}
