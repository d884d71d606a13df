// SPDX-License-Identifier: Apache-2.0

// The keys of a query that are no attributes: what to match, what to return, what to store, how to go about it; and the keys of key
// generation, of import, and of revocation. The strings are Apple's (keychain-behaviour §1.1, §1.6 and §3).
//
// Every `nonisolated(unsafe)` in this file stands for one reason: because the constant is an immutable string that is never replaced, and
// Foundation on Linux declares NSString non-Sendable only on account of NSMutableString. (Conforming NSString here instead always draws a
// warning, "already stated in the type's module", and Apple's CFString is not Sendable either.)

public import Foundation

// MARK: Match: narrows a search; update and delete refuse these keys

/// How many items: `kSecMatchLimitOne` (the default), `kSecMatchLimitAll`, or a number.
nonisolated(unsafe) public let kSecMatchLimit: CFString = "m_Limit"
nonisolated(unsafe) public let kSecMatchLimitOne: CFString = "m_LimitOne"
nonisolated(unsafe) public let kSecMatchLimitAll: CFString = "m_LimitAll"
/// Certificates and identities that satisfy a `SecPolicy`.
nonisolated(unsafe) public let kSecMatchPolicy: CFString = "m_Policy"
/// Only among these items: an array of references.
nonisolated(unsafe) public let kSecMatchItemList: CFString = "m_ItemList"
/// Only in these file keychains of the Mac: an array.
nonisolated(unsafe) public let kSecMatchSearchList: CFString = "m_SearchList"
/// Certificates with one of these issuers in their chain: an array of DER names in Data.
nonisolated(unsafe) public let kSecMatchIssuers: CFString = "m_Issuers"
/// Certificates that name this address or none: a string.
nonisolated(unsafe) public let kSecMatchEmailAddressIfPresent: CFString = "m_EmailAddressIfPresent"
/// Certificates whose subject contains the string.
nonisolated(unsafe) public let kSecMatchSubjectContains: CFString = "m_SubjectContains"
/// Certificates whose subject starts with the string. Mac only.
nonisolated(unsafe) public let kSecMatchSubjectStartsWith: CFString = "m_SubjectStartsWith"
/// Certificates whose subject ends with the string. Mac only.
nonisolated(unsafe) public let kSecMatchSubjectEndsWith: CFString = "m_SubjectEndsWith"
/// Certificates whose subject is the string. Mac only.
nonisolated(unsafe) public let kSecMatchSubjectWholeString: CFString = "m_SubjectWholeString"
/// Whether letters match in either case: a Bool.
nonisolated(unsafe) public let kSecMatchCaseInsensitive: CFString = "m_CaseInsensitive"
/// Whether accents are disregarded: a Bool. Mac only.
nonisolated(unsafe) public let kSecMatchDiacriticInsensitive: CFString = "m_DiacriticInsensitive"
/// Whether full and half width are the same: a Bool. Mac only.
nonisolated(unsafe) public let kSecMatchWidthInsensitive: CFString = "m_WidthInsensitive"
/// Only certificates that verify: a Bool.
nonisolated(unsafe) public let kSecMatchTrustedOnly: CFString = "m_TrustedOnly"
/// Only certificates valid at this Date; null stands for now.
nonisolated(unsafe) public let kSecMatchValidOnDate: CFString = "m_ValidOnDate"
/// Not in Apple's public headers: internet passwords of a host or of a host below it.
nonisolated(unsafe) public let kSecMatchHostOrSubdomainOfHost: CFString = "m_HostOrSubdomainOfHost"

// MARK: Return: what comes back; each is a Bool

/// The secret, as Data.
nonisolated(unsafe) public let kSecReturnData: CFString = "r_Data"
/// A dictionary of everything but the secret.
nonisolated(unsafe) public let kSecReturnAttributes: CFString = "r_Attributes"
/// A `SecKey`, `SecCertificate` or `SecIdentity`; nothing for passwords.
nonisolated(unsafe) public let kSecReturnRef: CFString = "r_Ref"
/// 20 bytes of Data that name the item for good.
nonisolated(unsafe) public let kSecReturnPersistentRef: CFString = "r_PersistentRef"

// MARK: Value: what to store, or which item is meant

/// The secret: Data.
nonisolated(unsafe) public let kSecValueData: CFString = "v_Data"
/// A `SecKey`, `SecCertificate` or `SecIdentity`.
nonisolated(unsafe) public let kSecValueRef: CFString = "v_Ref"
/// What `kSecReturnPersistentRef` gave: Data.
nonisolated(unsafe) public let kSecValuePersistentRef: CFString = "v_PersistentRef"

// MARK: Use: how to go about it

/// Accepted and without effect: there is one keychain here, and it behaves as on iOS.
nonisolated(unsafe) public let kSecUseDataProtectionKeychain: CFString = "nleg"
/// An `LAContext`, perhaps already evaluated.
nonisolated(unsafe) public let kSecUseAuthenticationContext: CFString = "u_AuthCtx"
/// One of the three values below.
nonisolated(unsafe) public let kSecUseAuthenticationUI: CFString = "u_AuthUI"
/// Ask the user where needed. The default.
nonisolated(unsafe) public let kSecUseAuthenticationUIAllow: CFString = "u_AuthUIA"
/// Fail with `errSecInteractionNotAllowed` instead of asking.
nonisolated(unsafe) public let kSecUseAuthenticationUIFail: CFString = "u_AuthUIF"
/// Leave out the items that would need asking. For searches only.
nonisolated(unsafe) public let kSecUseAuthenticationUISkip: CFString = "u_AuthUIS"
/// The older way to say `kSecUseAuthenticationUIFail`: a Bool.
nonisolated(unsafe) public let kSecUseNoAuthenticationUI: CFString = "u_NoAuthUI"
/// Why the user is asked: a string. Deprecated by Apple.
nonisolated(unsafe) public let kSecUseOperationPrompt: CFString = "u_OpPrompt"
/// Only these items: an array of references.
nonisolated(unsafe) public let kSecUseItemList: CFString = "u_ItemList"
/// A file keychain of the Mac to add to.
nonisolated(unsafe) public let kSecUseKeychain: CFString = "u_Keychain"
/// File keychains of the Mac; the name was withdrawn, and its string is a guess by analogy.
nonisolated(unsafe) public let kSecUseKeychainList: CFString = "u_KeychainList"
/// Not in Apple's public headers. Excludes `kSecUseAuthenticationContext`.
nonisolated(unsafe) public let kSecUseCredentialReference: CFString = "u_CredRef"
/// Not in Apple's public headers: who asks, a string.
nonisolated(unsafe) public let kSecUseCallerName: CFString = "u_CallerName"
/// Not in Apple's public headers: whether deletions leave a tombstone.
nonisolated(unsafe) public let kSecUseTombstones: CFString = "u_Tomb"
/// Not in Apple's public headers.
nonisolated(unsafe) public let kSecUseTokenRawItems: CFString = "u_TokenRawItems"

// MARK: Key generation

/// Attributes of the private half: a dictionary.
nonisolated(unsafe) public let kSecPrivateKeyAttrs: CFString = "private"
/// Attributes of the public half: a dictionary.
nonisolated(unsafe) public let kSecPublicKeyAttrs: CFString = "public"
/// Attributes of a symmetric key: a dictionary. Mac only.
nonisolated(unsafe) public let kSecSymmetricKeyAttrs: CFString = "symmetric"

// MARK: Import of PKCS#12

/// An option: the passphrase, a string.
nonisolated(unsafe) public let kSecImportExportPassphrase: CFString = "passphrase"
/// An option of the Mac: the file keychain to import to.
nonisolated(unsafe) public let kSecImportExportKeychain: CFString = "keychain"
/// An option of the Mac: a `SecAccess` for the imported keys.
nonisolated(unsafe) public let kSecImportExportAccess: CFString = "access"
/// An option: whether nothing is stored, a Bool.
nonisolated(unsafe) public let kSecImportToMemoryOnly: CFString = "memory"
/// In a result: the item's label, a string.
nonisolated(unsafe) public let kSecImportItemLabel: CFString = "label"
/// In a result: the key's identifier, Data.
nonisolated(unsafe) public let kSecImportItemKeyID: CFString = "keyid"
/// In a result: a `SecTrust` over the chain.
nonisolated(unsafe) public let kSecImportItemTrust: CFString = "trust"
/// In a result: an array of `SecCertificate`, the leaf first.
nonisolated(unsafe) public let kSecImportItemCertChain: CFString = "chain"
/// In a result: a `SecIdentity`.
nonisolated(unsafe) public let kSecImportItemIdentity: CFString = "identity"

// MARK: Shared web credentials

/// The password in a shared web credential: a string.
nonisolated(unsafe) public let kSecSharedPassword: CFString = "spwd"

// MARK: Revocation: flags of `SecPolicyCreateRevocation`

/// Ask the issuer's OCSP responder.
public let kSecRevocationOCSPMethod: CFOptionFlags = 1 << 0
/// Read the issuer's revocation list.
public let kSecRevocationCRLMethod: CFOptionFlags = 1 << 1
/// Try the list before the responder.
public let kSecRevocationPreferCRL: CFOptionFlags = 1 << 2
/// Without an answer the certificate is not trusted.
public let kSecRevocationRequirePositiveResponse: CFOptionFlags = 1 << 3
/// Use only what is at hand already.
public let kSecRevocationNetworkAccessDisabled: CFOptionFlags = 1 << 4
/// OCSP or list, whichever there is.
public let kSecRevocationUseAnyAvailableMethod: CFOptionFlags = kSecRevocationOCSPMethod | kSecRevocationCRLMethod
