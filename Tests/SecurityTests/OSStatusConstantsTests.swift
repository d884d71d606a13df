// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import Security
import Testing

/// Client code uses Apple's constants; the service returns codes from the table. Both must have the
/// same numbers.
@Suite("OSStatus constants")
struct OSStatusConstantsTests {
    @Test(
        "a constant has Apple's number, and that number has the constant's name in the table",
        arguments: Constant.sample)
    func constantAgreesWithTable(constant: Constant) {
        #expect(constant.value == constant.number)
        #expect(OSStatusCode(rawValue: constant.value).name == constant.name)
    }

    @Test("Apple's alternative names have the number of their status")
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

        #expect(errSSLServerAuthCompleted == errSSLPeerAuthCompleted)
        #expect(errSecInvaldCRLAuthority == errSecInvalidCRLAuthority)
        #expect(errSecInvalidTupleCredendtials == errSecInvalidTupleCredentials)
    }
}

extension OSStatusConstantsTests {
    @Test(
        "The comment of each status constant is the message of its status, or names the status with that number",
        arguments: ["OSStatusConstants", "CDSAStatusConstants", "TLSStatusConstants"])
    func comments(file: String) throws {
        let path = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Sources/Faces/LatchkeySecurity/\(file).swift").standardized
        let text = try String(contentsOf: path, encoding: .utf8)
        let declarations = text.matches(
            of: /((?:\/\/\/ [^\n]*\n)+)public let (\w+)(?:: OSStatus)? = (-\d+|\w+)\n/
        ).map { $0.output }
        #expect(declarations.count == text.components(separatedBy: "\npublic let ").count - 1)
        for (_, comment, name, value) in declarations where name != "noErr" && name != "errSecSuccess" {
            let words = comment.split(whereSeparator: \.isWhitespace).filter { $0 != "///" }.joined(separator: " ")
            guard let number = Int32(value) else {
                #expect(words.contains(value), "\(name)")
                continue
            }
            let status = OSStatusCode(rawValue: number)
            if status.name.map({ $0 == name }) == true {
                let message = try #require(status.message)
                #expect(words == message.prefix(1).uppercased() + message.dropFirst() + ".", "\(name)")
            } else {
                let first = try #require(status.name)
                #expect(words.hasPrefix("The same ") && words.contains("`\(first)`"), "\(name)")
            }
        }
    }

    @Test("SecCopyErrorMessageString returns one line for every TLS status", arguments: Constant.tls)
    func messages(constant: Constant) throws {
        let message = try #require(SecCopyErrorMessageString(constant.value, nil)) as String
        #expect(!message.contains("OSStatus") && !message.contains("\n") && message.count > 10)
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

        static let sample: [Constant] = general + tls

        private static let general: [Constant] = [
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
            Constant(
                name: "errSecMissingQualifiedCertStatement", value: errSecMissingQualifiedCertStatement, number: -67904),
        ]

        static let tls: [Constant] = [
            Constant(name: "errSSLProtocol", value: errSSLProtocol, number: -9800),
            Constant(name: "errSSLNegotiation", value: errSSLNegotiation, number: -9801),
            Constant(name: "errSSLFatalAlert", value: errSSLFatalAlert, number: -9802),
            Constant(name: "errSSLWouldBlock", value: errSSLWouldBlock, number: -9803),
            Constant(name: "errSSLSessionNotFound", value: errSSLSessionNotFound, number: -9804),
            Constant(name: "errSSLClosedGraceful", value: errSSLClosedGraceful, number: -9805),
            Constant(name: "errSSLClosedAbort", value: errSSLClosedAbort, number: -9806),
            Constant(name: "errSSLXCertChainInvalid", value: errSSLXCertChainInvalid, number: -9807),
            Constant(name: "errSSLBadCert", value: errSSLBadCert, number: -9808),
            Constant(name: "errSSLCrypto", value: errSSLCrypto, number: -9809),
            Constant(name: "errSSLInternal", value: errSSLInternal, number: -9810),
            Constant(name: "errSSLModuleAttach", value: errSSLModuleAttach, number: -9811),
            Constant(name: "errSSLUnknownRootCert", value: errSSLUnknownRootCert, number: -9812),
            Constant(name: "errSSLNoRootCert", value: errSSLNoRootCert, number: -9813),
            Constant(name: "errSSLCertExpired", value: errSSLCertExpired, number: -9814),
            Constant(name: "errSSLCertNotYetValid", value: errSSLCertNotYetValid, number: -9815),
            Constant(name: "errSSLClosedNoNotify", value: errSSLClosedNoNotify, number: -9816),
            Constant(name: "errSSLBufferOverflow", value: errSSLBufferOverflow, number: -9817),
            Constant(name: "errSSLBadCipherSuite", value: errSSLBadCipherSuite, number: -9818),
            Constant(name: "errSSLPeerUnexpectedMsg", value: errSSLPeerUnexpectedMsg, number: -9819),
            Constant(name: "errSSLPeerBadRecordMac", value: errSSLPeerBadRecordMac, number: -9820),
            Constant(name: "errSSLPeerDecryptionFail", value: errSSLPeerDecryptionFail, number: -9821),
            Constant(name: "errSSLPeerRecordOverflow", value: errSSLPeerRecordOverflow, number: -9822),
            Constant(name: "errSSLPeerDecompressFail", value: errSSLPeerDecompressFail, number: -9823),
            Constant(name: "errSSLPeerHandshakeFail", value: errSSLPeerHandshakeFail, number: -9824),
            Constant(name: "errSSLPeerBadCert", value: errSSLPeerBadCert, number: -9825),
            Constant(name: "errSSLPeerUnsupportedCert", value: errSSLPeerUnsupportedCert, number: -9826),
            Constant(name: "errSSLPeerCertRevoked", value: errSSLPeerCertRevoked, number: -9827),
            Constant(name: "errSSLPeerCertExpired", value: errSSLPeerCertExpired, number: -9828),
            Constant(name: "errSSLPeerCertUnknown", value: errSSLPeerCertUnknown, number: -9829),
            Constant(name: "errSSLIllegalParam", value: errSSLIllegalParam, number: -9830),
            Constant(name: "errSSLPeerUnknownCA", value: errSSLPeerUnknownCA, number: -9831),
            Constant(name: "errSSLPeerAccessDenied", value: errSSLPeerAccessDenied, number: -9832),
            Constant(name: "errSSLPeerDecodeError", value: errSSLPeerDecodeError, number: -9833),
            Constant(name: "errSSLPeerDecryptError", value: errSSLPeerDecryptError, number: -9834),
            Constant(name: "errSSLPeerExportRestriction", value: errSSLPeerExportRestriction, number: -9835),
            Constant(name: "errSSLPeerProtocolVersion", value: errSSLPeerProtocolVersion, number: -9836),
            Constant(name: "errSSLPeerInsufficientSecurity", value: errSSLPeerInsufficientSecurity, number: -9837),
            Constant(name: "errSSLPeerInternalError", value: errSSLPeerInternalError, number: -9838),
            Constant(name: "errSSLPeerUserCancelled", value: errSSLPeerUserCancelled, number: -9839),
            Constant(name: "errSSLPeerNoRenegotiation", value: errSSLPeerNoRenegotiation, number: -9840),
            Constant(name: "errSSLPeerAuthCompleted", value: errSSLPeerAuthCompleted, number: -9841),
            Constant(name: "errSSLClientCertRequested", value: errSSLClientCertRequested, number: -9842),
            Constant(name: "errSSLHostNameMismatch", value: errSSLHostNameMismatch, number: -9843),
            Constant(name: "errSSLConnectionRefused", value: errSSLConnectionRefused, number: -9844),
            Constant(name: "errSSLDecryptionFail", value: errSSLDecryptionFail, number: -9845),
            Constant(name: "errSSLBadRecordMac", value: errSSLBadRecordMac, number: -9846),
            Constant(name: "errSSLRecordOverflow", value: errSSLRecordOverflow, number: -9847),
            Constant(name: "errSSLBadConfiguration", value: errSSLBadConfiguration, number: -9848),
            Constant(name: "errSSLUnexpectedRecord", value: errSSLUnexpectedRecord, number: -9849),
            Constant(name: "errSSLWeakPeerEphemeralDHKey", value: errSSLWeakPeerEphemeralDHKey, number: -9850),
            Constant(name: "errSSLClientHelloReceived", value: errSSLClientHelloReceived, number: -9851),
            Constant(name: "errSSLTransportReset", value: errSSLTransportReset, number: -9852),
            Constant(name: "errSSLNetworkTimeout", value: errSSLNetworkTimeout, number: -9853),
            Constant(name: "errSSLConfigurationFailed", value: errSSLConfigurationFailed, number: -9854),
            Constant(name: "errSSLUnsupportedExtension", value: errSSLUnsupportedExtension, number: -9855),
            Constant(name: "errSSLUnexpectedMessage", value: errSSLUnexpectedMessage, number: -9856),
            Constant(name: "errSSLDecompressFail", value: errSSLDecompressFail, number: -9857),
            Constant(name: "errSSLHandshakeFail", value: errSSLHandshakeFail, number: -9858),
            Constant(name: "errSSLDecodeError", value: errSSLDecodeError, number: -9859),
            Constant(name: "errSSLInappropriateFallback", value: errSSLInappropriateFallback, number: -9860),
            Constant(name: "errSSLMissingExtension", value: errSSLMissingExtension, number: -9861),
            Constant(
                name: "errSSLBadCertificateStatusResponse", value: errSSLBadCertificateStatusResponse, number: -9862),
            Constant(name: "errSSLCertificateRequired", value: errSSLCertificateRequired, number: -9863),
            Constant(name: "errSSLUnknownPSKIdentity", value: errSSLUnknownPSKIdentity, number: -9864),
            Constant(name: "errSSLUnrecognizedName", value: errSSLUnrecognizedName, number: -9865),
            Constant(name: "errSSLATSViolation", value: errSSLATSViolation, number: -9880),
            Constant(name: "errSSLATSMinimumVersionViolation", value: errSSLATSMinimumVersionViolation, number: -9881),
            Constant(name: "errSSLATSCiphersuiteViolation", value: errSSLATSCiphersuiteViolation, number: -9882),
            Constant(name: "errSSLATSMinimumKeySizeViolation", value: errSSLATSMinimumKeySizeViolation, number: -9883),
            Constant(
                name: "errSSLATSLeafCertificateHashAlgorithmViolation",
                value: errSSLATSLeafCertificateHashAlgorithmViolation, number: -9884
            ),
            Constant(
                name: "errSSLATSCertificateHashAlgorithmViolation", value: errSSLATSCertificateHashAlgorithmViolation,
                number: -9885),
            Constant(
                name: "errSSLATSCertificateTrustViolation", value: errSSLATSCertificateTrustViolation, number: -9886),
            Constant(name: "errSSLEarlyDataRejected", value: errSSLEarlyDataRejected, number: -9890),
        ]
    }
}
