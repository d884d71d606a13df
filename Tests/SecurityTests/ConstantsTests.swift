// SPDX-License-Identifier: Apache-2.0

import Security
import Testing

/// The constants are stored and compared as strings, so the strings must be Apple's. This list is a
/// second, handwritten copy.
@Suite("kSec constants")
struct ConstantsTests {
    @Test("a constant has Apple's string", arguments: Constant.samples)
    func string(constant: Constant) {
        #expect(constant.value == constant.string)
    }

    @Test("the protocols are four characters long, including spaces, and distinct")
    func protocols() {
        let protocols = [
            kSecAttrProtocolFTP, kSecAttrProtocolFTPAccount, kSecAttrProtocolHTTP, kSecAttrProtocolIRC,
            kSecAttrProtocolNNTP,
            kSecAttrProtocolPOP3, kSecAttrProtocolSMTP, kSecAttrProtocolSOCKS, kSecAttrProtocolIMAP,
            kSecAttrProtocolLDAP,
            kSecAttrProtocolAppleTalk, kSecAttrProtocolAFP, kSecAttrProtocolTelnet, kSecAttrProtocolSSH,
            kSecAttrProtocolFTPS,
            kSecAttrProtocolHTTPS, kSecAttrProtocolHTTPProxy, kSecAttrProtocolHTTPSProxy, kSecAttrProtocolFTPProxy,
            kSecAttrProtocolSMB,
            kSecAttrProtocolRTSP, kSecAttrProtocolRTSPProxy, kSecAttrProtocolDAAP, kSecAttrProtocolEPPC,
            kSecAttrProtocolIPP,
            kSecAttrProtocolNNTPS, kSecAttrProtocolLDAPS, kSecAttrProtocolTelnetS, kSecAttrProtocolIMAPS,
            kSecAttrProtocolIRCS,
            kSecAttrProtocolPOP3S,
        ]
        #expect(protocols.allSatisfy { $0.length == 4 })
        #expect(Set(protocols).count == protocols.count)
    }

    @Test("constants with two names for one value are equal")
    func synonyms() {
        #expect(kSecAttrKeyTypeEC == kSecAttrKeyTypeECSECPrimeRandom)
        #expect(kSecAttrKeyTypeECDSA == kSecAttrKeyTypeECSECPrimeRandom)
        #expect(kSecUseDataProtectionKeychain == kSecAttrNoLegacy)
        #expect(kSecAttrKeyCreator == kSecAttrCreator)
        #expect(kSecAttrKeyType == kSecAttrType)
    }

    @Test("the revocation flags have Apple's bits")
    func revocation() {
        #expect(kSecRevocationOCSPMethod == 1)
        #expect(kSecRevocationCRLMethod == 2)
        #expect(kSecRevocationPreferCRL == 4)
        #expect(kSecRevocationRequirePositiveResponse == 8)
        #expect(kSecRevocationNetworkAccessDisabled == 16)
        #expect(kSecRevocationUseAnyAvailableMethod == 3)
    }
}

// MARK: - Cases

extension ConstantsTests {
    struct Constant: Sendable, CustomTestStringConvertible {
        let value: String
        let string: String

        init(_ value: CFString, _ string: String) {
            self.value = value as String
            self.string = string
        }

        var testDescription: String { string }

        static let samples: [Constant] = [
            Constant(kSecPolicyKU_DigitalSignature, "CE_KU_DigitalSignature"),
            Constant(kSecPolicyKU_NonRepudiation, "CE_KU_NonRepudiation"),
            Constant(kSecPolicyKU_KeyEncipherment, "CE_KU_KeyEncipherment"),
            Constant(kSecPolicyKU_DataEncipherment, "CE_KU_DataEncipherment"),
            Constant(kSecPolicyKU_KeyAgreement, "CE_KU_KeyAgreement"),
            Constant(kSecPolicyKU_KeyCertSign, "CE_KU_KeyCertSign"),
            Constant(kSecPolicyKU_CRLSign, "CE_KU_CRLSign"),
            Constant(kSecPolicyKU_EncipherOnly, "CE_KU_EncipherOnly"),
            Constant(kSecPolicyKU_DecipherOnly, "CE_KU_DecipherOnly"),
            Constant(kSecClass, "class"),
            Constant(kSecClassGenericPassword, "genp"),
            Constant(kSecClassInternetPassword, "inet"),
            Constant(kSecClassCertificate, "cert"),
            Constant(kSecClassKey, "keys"),
            Constant(kSecClassIdentity, "idnt"),
            Constant(kSecAttrAccount, "acct"),
            Constant(kSecAttrService, "svce"),
            Constant(kSecAttrServer, "srvr"),
            Constant(kSecAttrGeneric, "gena"),
            Constant(kSecAttrLabel, "labl"),
            Constant(kSecAttrComment, "icmt"),
            Constant(kSecAttrDescription, "desc"),
            Constant(kSecAttrAccessGroup, "agrp"),
            Constant(kSecAttrAccessible, "pdmn"),
            Constant(kSecAttrAccessControl, "accc"),
            Constant(kSecAttrAccess, "acls"),
            Constant(kSecAttrSynchronizable, "sync"),
            Constant(kSecAttrSynchronizableAny, "syna"),
            Constant(kSecAttrSecurityDomain, "sdmn"),
            Constant(kSecAttrProtocol, "ptcl"),
            Constant(kSecAttrAuthenticationType, "atyp"),
            Constant(kSecAttrApplicationTag, "atag"),
            Constant(kSecAttrApplicationLabel, "klbl"),
            Constant(kSecAttrPublicKeyHash, "pkhh"),
            Constant(kSecAttrKeySizeInBits, "bsiz"),
            Constant(kSecAttrTokenID, "tkid"),
            Constant(kSecAttrSyncViewHint, "vwht"),
            Constant(kSecAttrPersistentReference, "persistref"),
            Constant(kSecSharedPassword, "spwd"),
            Constant(kSecAttrTokenIDSecureEnclave, "com.apple.setoken"),
            Constant(kSecAttrAccessibleWhenUnlocked, "ak"),
            Constant(kSecAttrAccessibleAfterFirstUnlock, "ck"),
            Constant(kSecAttrAccessibleAlways, "dk"),
            Constant(kSecAttrAccessibleWhenUnlockedThisDeviceOnly, "aku"),
            Constant(kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly, "cku"),
            Constant(kSecAttrAccessibleAlwaysThisDeviceOnly, "dku"),
            Constant(kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly, "akpu"),
            Constant(kSecAttrProtocolFTP, "ftp "),
            Constant(kSecAttrProtocolIRC, "irc "),
            Constant(kSecAttrProtocolSOCKS, "sox "),
            Constant(kSecAttrProtocolAFP, "afp "),
            Constant(kSecAttrProtocolSSH, "ssh "),
            Constant(kSecAttrProtocolSMB, "smb "),
            Constant(kSecAttrProtocolIPP, "ipp "),
            Constant(kSecAttrProtocolHTTPS, "htps"),
            Constant(kSecAttrAuthenticationTypeHTTPDigest, "httd"),
            Constant(kSecAttrAuthenticationTypeDefault, "dflt"),
            Constant(kSecAttrKeyClassPublic, "0"),
            Constant(kSecAttrKeyClassPrivate, "1"),
            Constant(kSecAttrKeyTypeRSA, "42"),
            Constant(kSecAttrKeyTypeECSECPrimeRandom, "73"),
            Constant(kSecAttrKeyTypeAES, "2147483649"),
            Constant(kSecMatchLimit, "m_Limit"),
            Constant(kSecMatchLimitOne, "m_LimitOne"),
            Constant(kSecMatchLimitAll, "m_LimitAll"),
            Constant(kSecReturnData, "r_Data"),
            Constant(kSecReturnPersistentRef, "r_PersistentRef"),
            Constant(kSecValueData, "v_Data"),
            Constant(kSecValuePersistentRef, "v_PersistentRef"),
            Constant(kSecUseAuthenticationContext, "u_AuthCtx"),
            Constant(kSecUseAuthenticationUI, "u_AuthUI"),
            Constant(kSecUseAuthenticationUISkip, "u_AuthUIS"),
            Constant(kSecUseDataProtectionKeychain, "nleg"),
            Constant(kSecUseItemList, "u_ItemList"),
            Constant(kSecPrivateKeyAttrs, "private"),
            Constant(kSecPublicKeyAttrs, "public"),
            Constant(kSecImportExportPassphrase, "passphrase"),
            Constant(kSecImportItemIdentity, "identity"),
        ]
    }
}
