// SPDX-License-Identifier: Apache-2.0

// Apple's status constants, with Apple's names and numbers; those of CDSA are in
// CDSAStatusConstants.swift. The table of KeychainModel's `OSStatusCode` has the same names and
// numbers, and the messages that are the comments here. The alternative names at the end of this
// file exist only here.

// MARK: - The classic spelling of success

/// No error: the name that Mac programs used before `errSecSuccess`.
public let noErr: OSStatus = 0

// MARK: - Success, and the codes of the old operating system

/// No error. All other constants in this file are failures, and negative.
public let errSecSuccess: OSStatus = 0
/// This operation is not available here.
public let errSecUnimplemented: OSStatus = -4
/// No space left on the volume.
public let errSecDiskFull: OSStatus = -34
/// Reading or writing the store failed.
public let errSecIO: OSStatus = -36
/// The file is already open for writing.
public let errSecOpWr: OSStatus = -49
/// A parameter is missing, of the wrong type or not allowed.
public let errSecParam: OSStatus = -50
/// The store may not be written.
public let errSecWrPerm: OSStatus = -61
/// Out of memory.
public let errSecAllocate: OSStatus = -108
/// The user cancelled.
public let errSecUserCanceled: OSStatus = -128
/// Bad request or wrong state for it.
public let errSecBadReq: OSStatus = -909
/// A component failed internally.
public let errSecInternalComponent: OSStatus = -2070
/// An unexpected base-library failure.
public let errSecCoreFoundationUnknown: OSStatus = -4960

// MARK: - Access lists, import and trust settings

/// The access list is not of the simple form.
public let errSecACLNotSimple: OSStatus = -25240
/// No such policy.
public let errSecPolicyNotFound: OSStatus = -25241
/// That trust setting is invalid.
public let errSecInvalidTrustSetting: OSStatus = -25242
/// The item has no access list.
public let errSecNoAccessForItem: OSStatus = -25243
/// The owner of this item may not be changed that way.
public let errSecInvalidOwnerEdit: OSStatus = -25244
/// No trust result is available.
public let errSecTrustNotAvailable: OSStatus = -25245
/// Import/export format not supported.
public let errSecUnsupportedFormat: OSStatus = -25256
/// The input format was not recognised.
public let errSecUnknownFormat: OSStatus = -25257
/// The key may only leave in wrapped form.
public let errSecKeyIsSensitive: OSStatus = -25258
/// More than one private key in the input.
public let errSecMultiplePrivKeys: OSStatus = -25259
/// A passphrase is needed.
public let errSecPassphraseRequired: OSStatus = -25260
/// The password reference is invalid.
public let errSecInvalidPasswordRef: OSStatus = -25261
/// The trust-settings record is damaged.
public let errSecInvalidTrustSettings: OSStatus = -25262
/// There are no trust settings.
public let errSecNoTrustSettings: OSStatus = -25263
/// PKCS#12 integrity check failed, probably a wrong password.
public let errSecPkcs12VerifyFailure: OSStatus = -25264

// MARK: - Keychains and items

/// No keychain (or no key for this class) is available.
public let errSecNotAvailable: OSStatus = -25291
/// The keychain is read-only.
public let errSecReadOnly: OSStatus = -25292
/// Authentication failed.
public let errSecAuthFailed: OSStatus = -25293
/// No such keychain.
public let errSecNoSuchKeychain: OSStatus = -25294
/// The file is not a usable keychain.
public let errSecInvalidKeychain: OSStatus = -25295
/// A keychain of that name exists.
public let errSecDuplicateKeychain: OSStatus = -25296
/// Callback already registered.
public let errSecDuplicateCallback: OSStatus = -25297
/// Not a registered callback.
public let errSecInvalidCallback: OSStatus = -25298
/// An item with the same key attributes exists.
public let errSecDuplicateItem: OSStatus = -25299
/// No matching item.
public let errSecItemNotFound: OSStatus = -25300
/// The buffer is too small.
public let errSecBufferTooSmall: OSStatus = -25301
/// The data is too large.
public let errSecDataTooLarge: OSStatus = -25302
/// This class has no such attribute.
public let errSecNoSuchAttr: OSStatus = -25303
/// The item reference is no longer valid.
public let errSecInvalidItemRef: OSStatus = -25304
/// The search reference is invalid.
public let errSecInvalidSearchRef: OSStatus = -25305
/// No such item class.
public let errSecNoSuchClass: OSStatus = -25306
/// There is no default keychain.
public let errSecNoDefaultKeychain: OSStatus = -25307
/// Locked, or interaction is not allowed.
public let errSecInteractionNotAllowed: OSStatus = -25308
/// That attribute is read-only.
public let errSecReadOnlyAttr: OSStatus = -25309
/// Written by an incompatible version.
public let errSecWrongSecVersion: OSStatus = -25310
/// Key size not allowed.
public let errSecKeySizeNotAllowed: OSStatus = -25311
/// Storage module missing.
public let errSecNoStorageModule: OSStatus = -25312
/// Certificate module missing.
public let errSecNoCertificateModule: OSStatus = -25313
/// Policy module missing.
public let errSecNoPolicyModule: OSStatus = -25314
/// User interaction is required.
public let errSecInteractionRequired: OSStatus = -25315
/// The item's data cannot be read.
public let errSecDataNotAvailable: OSStatus = -25316
/// The item's data cannot be changed.
public let errSecDataNotModifiable: OSStatus = -25317
/// A certificate needed for the chain is missing.
public let errSecCreateChainFailed: OSStatus = -25318
/// Unknown preference domain.
public let errSecInvalidPrefsDomain: OSStatus = -25319
/// No user interface in this power state.
public let errSecInDarkWake: OSStatus = -25320

// MARK: - Messages between peers (SPI)

/// Bad message signature.
public let errSecMPSignatureInvalid: OSStatus = -25327
/// Message too old.
public let errSecOTRTooOld: OSStatus = -25328
/// Unknown newer key id.
public let errSecOTRIDTooNew: OSStatus = -25329
/// Authentication must be done first.
public let errSecAuthNeeded: OSStatus = -25330
/// No peers reachable.
public let errSecPeersNotAvailable: OSStatus = -25336
/// No text for this code.
public let errSecErrorStringNotAvailable: OSStatus = -25337

// MARK: - Signing and decoding

/// Not signed by the proposed parent.
public let errSecNotSigner: OSStatus = -26267
/// Chain refused by policy.
public let errSecPolicyDenied: OSStatus = -26270
/// The data could not be decoded.
public let errSecDecode: OSStatus = -26275
/// Internal failure.
public let errSecInternal: OSStatus = -26276

// MARK: - Entitlements (some SPI)

/// Wait for the callback, not an error.
public let errSecWaitForCallback: OSStatus = -34017
/// The required entitlement is missing.
public let errSecMissingEntitlement: OSStatus = -34018
/// Database upgrade waits for unlock, retry later.
public let errSecUpgradePending: OSStatus = -34019
/// This client may not do that.
public let errSecRestrictedAPI: OSStatus = -34020

// MARK: - Alternative names of errSecParam, for errors of a query

/// The same number as ``errSecParam``.
public let errSecItemInvalidKey: OSStatus = -50
/// The same number as ``errSecParam``.
public let errSecItemInvalidKeyType: OSStatus = -50
/// The same number as ``errSecParam``.
public let errSecItemInvalidValue: OSStatus = -50
/// The same number as ``errSecParam``.
public let errSecItemClassMissing: OSStatus = -50
/// The same number as ``errSecParam``.
public let errSecItemMatchUnsupported: OSStatus = -50
/// The same number as ``errSecParam``.
public let errSecUseItemListUnsupported: OSStatus = -50
/// The same number as ``errSecParam``.
public let errSecUseKeychainUnsupported: OSStatus = -50
/// The same number as ``errSecParam``.
public let errSecUseKeychainListUnsupported: OSStatus = -50
/// The same number as ``errSecParam``.
public let errSecReturnDataUnsupported: OSStatus = -50
/// The same number as ``errSecParam``.
public let errSecReturnAttributesUnsupported: OSStatus = -50
/// The same number as ``errSecParam``.
public let errSecReturnRefUnsupported: OSStatus = -50
/// The same number as ``errSecParam``.
public let errSecReturnPersitentRefUnsupported: OSStatus = -50
/// The same number as ``errSecParam``.
public let errSecValueRefUnsupported: OSStatus = -50
/// The same number as ``errSecParam``.
public let errSecValuePersistentRefUnsupported: OSStatus = -50
/// The same number as ``errSecParam``.
public let errSecReturnMissingPointer: OSStatus = -50
/// The same number as ``errSecParam``.
public let errSecMatchLimitUnsupported: OSStatus = -50
/// The same number as ``errSecParam``.
public let errSecItemIllegalQuery: OSStatus = -50
/// The same number as ``errSecParam``.
public let errSecUnsupportedPadding: OSStatus = -50

// MARK: - Alternative names of errSecUnimplemented and errSecDecode

/// The same number as ``errSecUnimplemented``.
public let errSecUnsupportedAlgorithm: OSStatus = -4
/// The same number as ``errSecUnimplemented``.
public let errSecUnsupportedOperation: OSStatus = -4
/// The same number as ``errSecDecode``.
public let errSecInvalidCertificate: OSStatus = -26275
/// The same number as ``errSecDecode``.
public let errSecInvalidKey: OSStatus = -26275

// MARK: - Misspelled by Apple, and kept because programs use the spelling

/// The same as `errSecInvalidCRLAuthority`.
public let errSecInvaldCRLAuthority: OSStatus = -67827

/// The same as `errSecInvalidTupleCredentials`.
public let errSecInvalidTupleCredendtials: OSStatus = -67852
