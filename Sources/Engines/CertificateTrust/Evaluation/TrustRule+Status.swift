// SPDX-License-Identifier: Apache-2.0

public import KeychainModel

// Maps each rule to one of Apple's codes.

extension TrustRule {
    public var status: OSStatusCode {
        switch self {
        case .form: OSStatusCode(rawValue: -67618)  // errSecUnknownCertExtension
        case .serialNumber: OSStatusCode(rawValue: -67694)  // errSecInvalidValue
        case .requiredAnchor: OSStatusCode(rawValue: -67612)  // errSecInvalidRoot
        case .requiredExtension: OSStatusCode(rawValue: -67880)  // errSecMissingRequiredExtension
        case .requiredName, .emptyName: OSStatusCode(rawValue: -67655)  // errSecInvalidSubjectName
        case .hostNameForm: OSStatusCode(rawValue: -67689)  // errSecInvalidName
        case .expired: OSStatusCode(rawValue: -67818)  // errSecCertificateExpired
        case .notYetValid: OSStatusCode(rawValue: -67819)  // errSecCertificateNotValidYet
        case .authority: OSStatusCode(rawValue: -67605)  // errSecNoBasicConstraintsCA
        case .pathLength: OSStatusCode(rawValue: -67611)  // errSecPathLengthConstraintExceeded
        case .keyIdentifier: OSStatusCode(rawValue: -67610)  // errSecInvalidIDLinkage
        case .keyUsage, .signingUsage: OSStatusCode(rawValue: -67608)  // errSecInvalidKeyUsageForPolicy
        case .extendedKeyUsage: OSStatusCode(rawValue: -67609)  // errSecInvalidExtendedKeyUsage
        case .nameConstraints: OSStatusCode(rawValue: -67900)  // errSecCertificateNameNotAllowed
        case .certificatePolicy: OSStatusCode(rawValue: -67899)  // errSecCertificatePolicyNotAllowed
        case .serverName: OSStatusCode(rawValue: -67602)  // errSecHostNameMismatch
        case .mailAddress: OSStatusCode(rawValue: -67623)  // errSecSMIMEEmailAddressesNotFound
        case .endEntity: OSStatusCode(rawValue: -67902)  // errSecCertificateIsCA
        case .validityPeriod: OSStatusCode(rawValue: -67901)  // errSecCertificateValidityPeriodTooLong
        case .unknownCriticalExtension: OSStatusCode(rawValue: -67603)  // errSecUnknownCriticalExtensionFlag
        case .key: OSStatusCode(rawValue: -67735)  // errSecUnsupportedKeySize
        case .algorithm: OSStatusCode(rawValue: -67815)  // errSecInvalidDigestAlgorithm
        case .signature: OSStatusCode(rawValue: -67688)  // errSecInvalidSignature
        case .revoked: OSStatusCode(rawValue: -67820)  // errSecCertificateRevoked
        case .revocationUnknown: OSStatusCode(rawValue: -67635)  // errSecIncompleteCertRevocationCheck
        case .transparency: OSStatusCode(rawValue: -67825)  // errSecVerifyActionFailed
        case .denied: OSStatusCode(rawValue: -67654)  // errSecTrustSettingDeny
        case .untrusted: OSStatusCode(rawValue: -67843)  // errSecNotTrusted
        case .budget: OSStatusCode(rawValue: -25318)  // errSecCreateChainFailed
        }
    }
}
