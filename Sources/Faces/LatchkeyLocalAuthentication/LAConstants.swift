// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The maximum age, in seconds, of an accepted recognition by biometry.
public let LATouchIDAuthenticationMaximumAllowableReuseDuration: TimeInterval = 300

/// The domain of the errors of `LAContext`.
public let LAErrorDomain = "com.apple.LocalAuthentication"
/// The domain of the errors of `LAContext`.
public let kLAErrorDomain = LAErrorDomain

/// A place for an error, as Apple's Foundation names it. Foundation on Linux does not declare it.
public typealias NSErrorPointer = UnsafeMutablePointer<NSError?>?

// MARK: Policies, by their C names

/// `LAPolicy.deviceOwnerAuthenticationWithBiometrics`.
public let kLAPolicyDeviceOwnerAuthenticationWithBiometrics: Int32 = 1
/// `LAPolicy.deviceOwnerAuthentication`.
public let kLAPolicyDeviceOwnerAuthentication: Int32 = 2
/// `LAPolicy.deviceOwnerAuthenticationWithWatch`.
public let kLAPolicyDeviceOwnerAuthenticationWithWatch: Int32 = 3
/// `LAPolicy.deviceOwnerAuthenticationWithCompanion`.
public let kLAPolicyDeviceOwnerAuthenticationWithCompanion: Int32 = 3
/// `LAPolicy.deviceOwnerAuthenticationWithBiometricsOrWatch`.
public let kLAPolicyDeviceOwnerAuthenticationWithBiometricsOrWatch: Int32 = 4
/// `LAPolicy.deviceOwnerAuthenticationWithBiometricsOrCompanion`.
public let kLAPolicyDeviceOwnerAuthenticationWithBiometricsOrCompanion: Int32 = 4

// MARK: Biometry, credentials and operations, by their C names

/// `LABiometryType.none`.
public let kLABiometryTypeNone: Int32 = 0
/// `LABiometryType.touchID`.
public let kLABiometryTypeTouchID: Int32 = 1
/// `LABiometryType.faceID`.
public let kLABiometryTypeFaceID: Int32 = 2
/// `LABiometryType.opticID`.
public let kLABiometryTypeOpticID: Int32 = 4
/// `LACredentialType.applicationPassword`.
public let kLACredentialTypeApplicationPassword: Int32 = 0
/// `LACredentialType.smartCardPIN`.
public let kLACredentialSmartCardPIN: Int32 = -3
/// `LAAccessControlOperation.createItem`.
public let kLAAccessControlOperationCreateItem: Int32 = 0
/// `LAAccessControlOperation.useItem`.
public let kLAAccessControlOperationUseItem: Int32 = 1
/// `LAAccessControlOperation.createKey`.
public let kLAAccessControlOperationCreateKey: Int32 = 2
/// `LAAccessControlOperation.useKeySign`.
public let kLAAccessControlOperationUseKeySign: Int32 = 3
/// `LAAccessControlOperation.useKeyDecrypt`.
public let kLAAccessControlOperationUseKeyDecrypt: Int32 = 4
/// `LAAccessControlOperation.useKeyKeyExchange`.
public let kLAAccessControlOperationUseKeyKeyExchange: Int32 = 5

// MARK: Errors, by their C names

/// `LAError.authenticationFailed`.
public let kLAErrorAuthenticationFailed: Int32 = -1
/// `LAError.userCancel`.
public let kLAErrorUserCancel: Int32 = -2
/// `LAError.userFallback`.
public let kLAErrorUserFallback: Int32 = -3
/// `LAError.systemCancel`.
public let kLAErrorSystemCancel: Int32 = -4
/// `LAError.passcodeNotSet`.
public let kLAErrorPasscodeNotSet: Int32 = -5
/// `LAError.touchIDNotAvailable`.
public let kLAErrorTouchIDNotAvailable: Int32 = -6
/// `LAError.touchIDNotEnrolled`.
public let kLAErrorTouchIDNotEnrolled: Int32 = -7
/// `LAError.touchIDLockout`.
public let kLAErrorTouchIDLockout: Int32 = -8
/// `LAError.biometryNotAvailable`.
public let kLAErrorBiometryNotAvailable: Int32 = -6
/// `LAError.biometryNotEnrolled`.
public let kLAErrorBiometryNotEnrolled: Int32 = -7
/// `LAError.biometryLockout`.
public let kLAErrorBiometryLockout: Int32 = -8
/// `LAError.appCancel`.
public let kLAErrorAppCancel: Int32 = -9
/// `LAError.invalidContext`.
public let kLAErrorInvalidContext: Int32 = -10
/// `LAError.watchNotAvailable`.
public let kLAErrorWatchNotAvailable: Int32 = -11
/// `LAError.companionNotAvailable`.
public let kLAErrorCompanionNotAvailable: Int32 = -11
/// `LAError.biometryNotPaired`.
public let kLAErrorBiometryNotPaired: Int32 = -12
/// `LAError.biometryDisconnected`.
public let kLAErrorBiometryDisconnected: Int32 = -13
/// `LAError.invalidDimensions`.
public let kLAErrorInvalidDimensions: Int32 = -14
/// `LAError.notInteractive`.
public let kLAErrorNotInteractive: Int32 = -1004
