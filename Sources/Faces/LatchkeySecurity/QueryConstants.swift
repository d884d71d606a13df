// SPDX-License-Identifier: Apache-2.0

// The keys of a query that are not attributes: conditions to match, results to return, values to
// store and options; and the keys of key generation, of import and of revocation. The strings are
// Apple's (keychain-behaviour §1.1, §1.6 and §3).
//
// Every `nonisolated(unsafe)` in this file stands for one reason: because the constant is an
// immutable string that is never replaced. Foundation on Linux declares NSString non-Sendable only
// because of NSMutableString. (A conformance of NSString instead always causes the warning "already
// stated in the type's module", and Apple's CFString is not Sendable either.)

public import Foundation

// MARK: Match: narrows a search

/// The number of results: `kSecMatchLimitOne` (the default), `kSecMatchLimitAll`, or a number.
nonisolated(unsafe) public let kSecMatchLimit: CFString = "m_Limit"
/// One result: the first item in the order of addition.
nonisolated(unsafe) public let kSecMatchLimitOne: CFString = "m_LimitOne"
/// All results, in an array.
nonisolated(unsafe) public let kSecMatchLimitAll: CFString = "m_LimitAll"
/// Certificates and identities that satisfy a `SecPolicy`.
nonisolated(unsafe) public let kSecMatchPolicy: CFString = "m_Policy"
/// Only items in this list: an array of references.
nonisolated(unsafe) public let kSecMatchItemList: CFString = "m_ItemList"
/// Only items in these keychains, in this order: an array of `SecKeychain`.
nonisolated(unsafe) public let kSecMatchSearchList: CFString = "m_SearchList"
/// Certificates with one of these issuers in their chain: an array of DER names in Data.
nonisolated(unsafe) public let kSecMatchIssuers: CFString = "m_Issuers"
/// Certificates that name this email address, or none: a string.
nonisolated(unsafe) public let kSecMatchEmailAddressIfPresent: CFString = "m_EmailAddressIfPresent"
/// Certificates with a subject that contains the string.
nonisolated(unsafe) public let kSecMatchSubjectContains: CFString = "m_SubjectContains"
/// Certificates with a subject that starts with the string. Mac only.
nonisolated(unsafe) public let kSecMatchSubjectStartsWith: CFString = "m_SubjectStartsWith"
/// Certificates with a subject that ends with the string. Mac only.
nonisolated(unsafe) public let kSecMatchSubjectEndsWith: CFString = "m_SubjectEndsWith"
/// Certificates with a subject that equals the string. Mac only.
nonisolated(unsafe) public let kSecMatchSubjectWholeString: CFString = "m_SubjectWholeString"
/// Whether the comparison ignores case: a Bool.
nonisolated(unsafe) public let kSecMatchCaseInsensitive: CFString = "m_CaseInsensitive"
/// Whether the comparison ignores diacritics: a Bool. Mac only.
nonisolated(unsafe) public let kSecMatchDiacriticInsensitive: CFString = "m_DiacriticInsensitive"
/// Whether the comparison ignores character width: a Bool. Mac only.
nonisolated(unsafe) public let kSecMatchWidthInsensitive: CFString = "m_WidthInsensitive"
/// Only certificates that verify: a Bool.
nonisolated(unsafe) public let kSecMatchTrustedOnly: CFString = "m_TrustedOnly"
/// Only certificates valid at this Date; null means the current time.
nonisolated(unsafe) public let kSecMatchValidOnDate: CFString = "m_ValidOnDate"
/// Not in Apple's public headers: internet passwords of a host or of its subdomains.
nonisolated(unsafe) public let kSecMatchHostOrSubdomainOfHost: CFString = "m_HostOrSubdomainOfHost"

// MARK: Return: the kinds of result; each is a Bool

/// The secret, as Data.
nonisolated(unsafe) public let kSecReturnData: CFString = "r_Data"
/// A dictionary of all attributes, without the secret.
nonisolated(unsafe) public let kSecReturnAttributes: CFString = "r_Attributes"
/// A `SecKey`, `SecCertificate` or `SecIdentity`; nothing for passwords.
nonisolated(unsafe) public let kSecReturnRef: CFString = "r_Ref"
/// 20 bytes of Data that name the item permanently.
nonisolated(unsafe) public let kSecReturnPersistentRef: CFString = "r_PersistentRef"

// MARK: Value: the data to store, or the item

/// The secret: Data.
nonisolated(unsafe) public let kSecValueData: CFString = "v_Data"
/// A `SecKey`, `SecCertificate`, `SecIdentity` or `SecKeychainItem`.
nonisolated(unsafe) public let kSecValueRef: CFString = "v_Ref"
/// A persistent reference, as `kSecReturnPersistentRef` returns it: Data.
nonisolated(unsafe) public let kSecValuePersistentRef: CFString = "v_PersistentRef"

// MARK: Use: options

/// Accepted and ignored: every keychain behaves as on iOS.
nonisolated(unsafe) public let kSecUseDataProtectionKeychain: CFString = "nleg"
/// An `LAContext`; it may already be evaluated. Several calls with one context ask once, and keys that a call returns
/// keep it.
nonisolated(unsafe) public let kSecUseAuthenticationContext: CFString = "u_AuthCtx"
/// One of the three values below.
nonisolated(unsafe) public let kSecUseAuthenticationUI: CFString = "u_AuthUI"
/// Ask the user if necessary. The default.
nonisolated(unsafe) public let kSecUseAuthenticationUIAllow: CFString = "u_AuthUIA"
/// Fail with `errSecInteractionNotAllowed` instead of asking.
nonisolated(unsafe) public let kSecUseAuthenticationUIFail: CFString = "u_AuthUIF"
/// Omit items that need a prompt to the user. For searches only.
nonisolated(unsafe) public let kSecUseAuthenticationUISkip: CFString = "u_AuthUIS"
/// The older form of `kSecUseAuthenticationUIFail`: a Bool.
nonisolated(unsafe) public let kSecUseNoAuthenticationUI: CFString = "u_NoAuthUI"
/// The reason shown to the user: a string. It takes precedence over that of the context. Deprecated by Apple.
nonisolated(unsafe) public let kSecUseOperationPrompt: CFString = "u_OpPrompt"
/// Only items in this list: an array of references.
nonisolated(unsafe) public let kSecUseItemList: CFString = "u_ItemList"
/// The keychain that the item is added to: a `SecKeychain`.
nonisolated(unsafe) public let kSecUseKeychain: CFString = "u_Keychain"
/// File keychains of the Mac. Apple withdrew the name; the string is inferred from similar names.
nonisolated(unsafe) public let kSecUseKeychainList: CFString = "u_KeychainList"
/// Not in Apple's public headers. Excludes `kSecUseAuthenticationContext`.
nonisolated(unsafe) public let kSecUseCredentialReference: CFString = "u_CredRef"
/// Not in Apple's public headers: the name of the caller, a string.
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
/// An option: the keychain to import into, a `SecKeychain`; by default nothing is stored.
nonisolated(unsafe) public let kSecImportExportKeychain: CFString = "keychain"
/// An option: a `SecAccess`. It is kept with stored keys without effect.
nonisolated(unsafe) public let kSecImportExportAccess: CFString = "access"
/// An option: whether the import stores nothing, a Bool.
nonisolated(unsafe) public let kSecImportToMemoryOnly: CFString = "memory"
/// In a result: the item's label, a string.
nonisolated(unsafe) public let kSecImportItemLabel: CFString = "label"
/// In a result: the key's identifier, Data.
nonisolated(unsafe) public let kSecImportItemKeyID: CFString = "keyid"
/// In a result: a `SecTrust` for the chain.
nonisolated(unsafe) public let kSecImportItemTrust: CFString = "trust"
/// In a result: an array of `SecCertificate`, the leaf first.
nonisolated(unsafe) public let kSecImportItemCertChain: CFString = "chain"
/// In a result: a `SecIdentity`.
nonisolated(unsafe) public let kSecImportItemIdentity: CFString = "identity"

// MARK: Shared web credentials

/// The password in a shared web credential: a string.
nonisolated(unsafe) public let kSecSharedPassword: CFString = "spwd"

// MARK: Revocation: flags of `SecPolicyCreateRevocation`

/// Query the issuer's OCSP responder.
public let kSecRevocationOCSPMethod: CFOptionFlags = 1 << 0
/// Use the issuer's CRL.
public let kSecRevocationCRLMethod: CFOptionFlags = 1 << 1
/// Use the CRL before the OCSP responder.
public let kSecRevocationPreferCRL: CFOptionFlags = 1 << 2
/// Fail unless confirmed not revoked.
public let kSecRevocationRequirePositiveResponse: CFOptionFlags = 1 << 3
/// Use only revocation evidence that is already available.
public let kSecRevocationNetworkAccessDisabled: CFOptionFlags = 1 << 4
/// Use OCSP or a CRL, depending on availability.
public let kSecRevocationUseAnyAvailableMethod: CFOptionFlags = kSecRevocationOCSPMethod | kSecRevocationCRLMethod
