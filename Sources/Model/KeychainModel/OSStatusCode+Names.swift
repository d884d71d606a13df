// SPDX-License-Identifier: Apache-2.0

/// The statuses that Latchkey itself returns.
///
/// Other statuses need no member here: `OSStatusCode(rawValue:)` takes any number, and name and
/// message come from the table.
extension OSStatusCode {
    /// `errSecSuccess`: no error.
    public static let success = OSStatusCode(rawValue: 0)

    /// `errSecUnimplemented`: this operation is not available here.
    public static let unimplemented = OSStatusCode(rawValue: -4)

    /// `errSecDiskFull`: no space left on the volume.
    public static let diskFull = OSStatusCode(rawValue: -34)

    /// `errSecIO`: reading or writing the store failed.
    public static let io = OSStatusCode(rawValue: -36)

    /// `errSecParam`: a parameter is missing, of the wrong type or not allowed.
    public static let param = OSStatusCode(rawValue: -50)

    /// `errSecWrPerm`: the store may not be written.
    public static let writePermission = OSStatusCode(rawValue: -61)

    /// `errSecAllocate`: out of memory.
    public static let allocate = OSStatusCode(rawValue: -108)

    /// `errSecUserCanceled`: the user cancelled.
    public static let userCanceled = OSStatusCode(rawValue: -128)

    /// `errSecNotAvailable`: no keychain (or no key for this class) is available.
    public static let notAvailable = OSStatusCode(rawValue: -25291)

    /// `errSecReadOnly`: the keychain is read-only.
    public static let readOnly = OSStatusCode(rawValue: -25292)

    /// `errSecAuthFailed`: authentication failed.
    public static let authFailed = OSStatusCode(rawValue: -25293)

    /// `errSecNoSuchKeychain`: no such keychain.
    public static let noSuchKeychain = OSStatusCode(rawValue: -25294)

    /// `errSecDuplicateKeychain`: a keychain of this name exists.
    public static let duplicateKeychain = OSStatusCode(rawValue: -25296)

    /// `errSecInvalidKeychain`: the file is not a usable keychain.
    public static let invalidKeychain = OSStatusCode(rawValue: -25295)

    /// `errSecDuplicateItem`: an item with the same key attributes exists.
    public static let duplicateItem = OSStatusCode(rawValue: -25299)

    /// `errSecItemNotFound`: no matching item.
    public static let itemNotFound = OSStatusCode(rawValue: -25300)

    /// `errSecUnknownFormat`: the format of the input is not known.
    public static let unknownFormat = OSStatusCode(rawValue: -25257)

    /// `errSecDataTooLarge`: the data is too large.
    public static let dataTooLarge = OSStatusCode(rawValue: -25302)

    /// `errSecNoSuchAttr`: this class has no such attribute.
    public static let noSuchAttribute = OSStatusCode(rawValue: -25303)

    /// `errSecNoSuchClass`: no such item class.
    public static let noSuchClass = OSStatusCode(rawValue: -25306)

    /// `errSecNoDefaultKeychain`: there is no default keychain.
    public static let noDefaultKeychain = OSStatusCode(rawValue: -25307)

    /// `errSecInteractionNotAllowed`: locked, or interaction is not allowed.
    public static let interactionNotAllowed = OSStatusCode(rawValue: -25308)

    /// `errSecCreateChainFailed`: a certificate that a chain needs is missing.
    public static let createChainFailed = OSStatusCode(rawValue: -25318)

    /// `errSecAuthNeeded`: the person must authenticate first. Only inside of this package.
    public static let authNeeded = OSStatusCode(rawValue: -25330)

    /// `errSecWrongSecVersion`: written by an incompatible version.
    public static let wrongSecVersion = OSStatusCode(rawValue: -25310)

    /// `errSecKeySizeNotAllowed`: key size not allowed.
    public static let keySizeNotAllowed = OSStatusCode(rawValue: -25311)

    /// `errSecDecode`: the data could not be decoded.
    public static let decode = OSStatusCode(rawValue: -26275)

    /// `errSecInternal`: internal failure. (`internal` is a Swift keyword.)
    public static let internalFailure = OSStatusCode(rawValue: -26276)

    /// `errSecMissingEntitlement`: the required entitlement is missing.
    public static let missingEntitlement = OSStatusCode(rawValue: -34018)

    /// `errSecRestrictedAPI`: this client may not do that.
    public static let restrictedAPI = OSStatusCode(rawValue: -34020)

    /// `errSecServiceNotAvailable`: service not reachable.
    public static let serviceNotAvailable = OSStatusCode(rawValue: -67585)

    /// `errSecInvalidData`: invalid data.
    public static let invalidData = OSStatusCode(rawValue: -67673)

    /// `errSecKeyUsageIncorrect`: the key may not be used for this.
    public static let keyUsageIncorrect = OSStatusCode(rawValue: -67731)

    /// `errSecNotTrusted`: not trusted.
    public static let notTrusted = OSStatusCode(rawValue: -67843)
    /// `errSecVerifyActionFailed`: a requirement beside trust is not satisfied.
    public static let verifyActionFailed = OSStatusCode(rawValue: -67825)
    /// `errSecVerifyFailed`: signature verification failed.
    public static let verifyFailed = OSStatusCode(rawValue: -67808)

    /// `errSecDatabaseLocked`: database locked.
    public static let databaseLocked = OSStatusCode(rawValue: -67869)
}
