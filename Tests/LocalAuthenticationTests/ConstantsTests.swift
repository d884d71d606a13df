// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import LocalAuthentication
import Testing

@Suite("Constants of LocalAuthentication")
struct ConstantsTests {
    @Test("The policies have Apple's numbers")
    func policies() {
        #expect(LAPolicy.deviceOwnerAuthenticationWithBiometrics.rawValue == 1)
        #expect(LAPolicy.deviceOwnerAuthentication.rawValue == 2)
        #expect(LAPolicy.deviceOwnerAuthenticationWithCompanion.rawValue == 3)
        #expect(LAPolicy.deviceOwnerAuthenticationWithWatch == .deviceOwnerAuthenticationWithCompanion)
        #expect(LAPolicy.deviceOwnerAuthenticationWithBiometricsOrCompanion.rawValue == 4)
        #expect(
            LAPolicy.deviceOwnerAuthenticationWithBiometricsOrWatch
                == .deviceOwnerAuthenticationWithBiometricsOrCompanion)
        #expect(Int(kLAPolicyDeviceOwnerAuthenticationWithBiometrics) == 1)
        #expect(Int(kLAPolicyDeviceOwnerAuthentication) == 2)
        #expect(Int(kLAPolicyDeviceOwnerAuthenticationWithWatch) == 3)
        #expect(Int(kLAPolicyDeviceOwnerAuthenticationWithCompanion) == 3)
        #expect(Int(kLAPolicyDeviceOwnerAuthenticationWithBiometricsOrWatch) == 4)
        #expect(Int(kLAPolicyDeviceOwnerAuthenticationWithBiometricsOrCompanion) == 4)
        #expect(LAPolicy(rawValue: 99) == nil)
    }

    @Test("The kinds of biometry, credentials and operations have Apple's numbers")
    func others() {
        #expect([LABiometryType.none, .touchID, .faceID, .opticID].map(\.rawValue) == [0, 1, 2, 4])
        #expect(
            [kLABiometryTypeNone, kLABiometryTypeTouchID, kLABiometryTypeFaceID, kLABiometryTypeOpticID]
                == [0, 1, 2, 4])
        #expect([LACredentialType.applicationPassword, .smartCardPIN].map(\.rawValue) == [0, -3])
        #expect([kLACredentialTypeApplicationPassword, kLACredentialSmartCardPIN] == [0, -3])
        let operations: [LAAccessControlOperation] = [
            .createItem, .useItem, .createKey, .useKeySign, .useKeyDecrypt, .useKeyKeyExchange,
        ]
        #expect(operations.map(\.rawValue) == [0, 1, 2, 3, 4, 5])
        #expect(
            [
                kLAAccessControlOperationCreateItem, kLAAccessControlOperationUseItem,
                kLAAccessControlOperationCreateKey, kLAAccessControlOperationUseKeySign,
                kLAAccessControlOperationUseKeyDecrypt, kLAAccessControlOperationUseKeyKeyExchange,
            ] == [0, 1, 2, 3, 4, 5])
        #expect(LATouchIDAuthenticationMaximumAllowableReuseDuration == 300)
        #expect(LATouchIDAuthenticationMaximumAllowableReuseDuration == AuthenticationPrompt.maxReuse)
        #expect(kLAErrorDomain == "com.apple.LocalAuthentication")
    }
}
