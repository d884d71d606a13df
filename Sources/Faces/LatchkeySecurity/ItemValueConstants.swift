// SPDX-License-Identifier: Apache-2.0

// The values of attributes with a fixed set of values. The strings are Apple's (keychain-behaviour
// §1.6 and §2).
//
// Every `nonisolated(unsafe)` in this file stands for one reason: because the constant is an
// immutable string that is never replaced. Foundation on Linux declares NSString non-Sendable only
// because of NSMutableString. (A conformance of NSString instead always causes the warning "already
// stated in the type's module", and Apple's CFString is not Sendable either.)

public import Foundation

// MARK: Protection: values of `kSecAttrAccessible`

/// Readable while the keychain is unlocked. The default for passwords and keys.
nonisolated(unsafe) public let kSecAttrAccessibleWhenUnlocked: CFString = "ak"
/// Readable from the first unlock until the machine restarts.
nonisolated(unsafe) public let kSecAttrAccessibleAfterFirstUnlock: CFString = "ck"
/// Always readable. Deprecated by Apple; the default for certificates.
nonisolated(unsafe) public let kSecAttrAccessibleAlways: CFString = "dk"
/// As `kSecAttrAccessibleWhenUnlocked`, and never readable on another device.
nonisolated(unsafe) public let kSecAttrAccessibleWhenUnlockedThisDeviceOnly: CFString = "aku"
/// As `kSecAttrAccessibleAfterFirstUnlock`, and never readable on another device.
nonisolated(unsafe) public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString = "cku"
/// As `kSecAttrAccessibleAlways`, and never readable on another device. Deprecated by Apple.
nonisolated(unsafe) public let kSecAttrAccessibleAlwaysThisDeviceOnly: CFString = "dku"
/// Readable while the keychain is unlocked. Requires a passcode; the item is destroyed when the
/// passcode is removed.
nonisolated(unsafe) public let kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly: CFString = "akpu"
/// Not in Apple's public headers. Accepted only in a `SecAccessControl` for the keys of a token.
nonisolated(unsafe) public let kSecAttrAccessibleUntilReboot: CFString = "f"

// MARK: Synchronizing and groups

/// Matches items that may be synchronized to other devices and items that may not.
nonisolated(unsafe) public let kSecAttrSynchronizableAny: CFString = "syna"
/// The group of the items that tokens publish. Programs can only read it.
nonisolated(unsafe) public let kSecAttrAccessGroupToken: CFString = "com.apple.token"

// MARK: Tokens: values of `kSecAttrTokenID`

/// The key is created inside the security processor and never leaves it.
nonisolated(unsafe) public let kSecAttrTokenIDSecureEnclave: CFString = "com.apple.setoken"
/// Not in Apple's public headers.
nonisolated(unsafe) public let kSecAttrTokenIDAppleKeyStore: CFString = "com.apple.setoken:aks"

// MARK: Key classes: values of `kSecAttrKeyClass`

/// A public key.
nonisolated(unsafe) public let kSecAttrKeyClassPublic: CFString = "0"
/// A private key.
nonisolated(unsafe) public let kSecAttrKeyClassPrivate: CFString = "1"
/// A symmetric key.
nonisolated(unsafe) public let kSecAttrKeyClassSymmetric: CFString = "2"

// MARK: Key types: values of `kSecAttrKeyType`

/// RSA.
nonisolated(unsafe) public let kSecAttrKeyTypeRSA: CFString = "42"
/// Elliptic curves over a prime field: P-192 to P-521 by size.
nonisolated(unsafe) public let kSecAttrKeyTypeECSECPrimeRandom: CFString = "73"
/// The older name of `kSecAttrKeyTypeECSECPrimeRandom`.
nonisolated(unsafe) public let kSecAttrKeyTypeEC: CFString = "73"
/// The macOS name of `kSecAttrKeyTypeECSECPrimeRandom`.
nonisolated(unsafe) public let kSecAttrKeyTypeECDSA: CFString = "73"
/// Unsupported, like the others down to CAST: macOS numbers of old algorithms.
nonisolated(unsafe) public let kSecAttrKeyTypeDSA: CFString = "43"
/// Unsupported: AES.
nonisolated(unsafe) public let kSecAttrKeyTypeAES: CFString = "2147483649"
/// Unsupported: DES.
nonisolated(unsafe) public let kSecAttrKeyTypeDES: CFString = "14"
/// Unsupported: triple DES.
nonisolated(unsafe) public let kSecAttrKeyType3DES: CFString = "17"
/// Unsupported: RC4.
nonisolated(unsafe) public let kSecAttrKeyTypeRC4: CFString = "25"
/// Unsupported: RC2.
nonisolated(unsafe) public let kSecAttrKeyTypeRC2: CFString = "23"
/// Apple's constant is 56, although the algorithm's number in CDSA is 27.
nonisolated(unsafe) public let kSecAttrKeyTypeCAST: CFString = "56"
/// Not in Apple's public headers, like the others below.
nonisolated(unsafe) public let kSecAttrKeyTypeEd25519: CFString = "105"
/// Unsupported: X25519.
nonisolated(unsafe) public let kSecAttrKeyTypeX25519: CFString = "106"
/// Unsupported: Ed448.
nonisolated(unsafe) public let kSecAttrKeyTypeEd448: CFString = "107"
/// Unsupported: X448.
nonisolated(unsafe) public let kSecAttrKeyTypeX448: CFString = "108"
/// Unsupported: Kyber.
nonisolated(unsafe) public let kSecAttrKeyTypeKyber: CFString = "109"
/// Unsupported: ML-KEM.
nonisolated(unsafe) public let kSecAttrKeyTypeMLKEM: CFString = "110"
/// Unsupported: ML-DSA.
nonisolated(unsafe) public let kSecAttrKeyTypeMLDSA: CFString = "111"

// MARK: Key derivation: values of `kSecAttrPRF`

/// HMAC with SHA-1.
nonisolated(unsafe) public let kSecAttrPRFHmacAlgSHA1: CFString = "hsha1"
/// HMAC with SHA-224.
nonisolated(unsafe) public let kSecAttrPRFHmacAlgSHA224: CFString = "hsha224"
/// HMAC with SHA-256.
nonisolated(unsafe) public let kSecAttrPRFHmacAlgSHA256: CFString = "hsha256"
/// HMAC with SHA-384.
nonisolated(unsafe) public let kSecAttrPRFHmacAlgSHA384: CFString = "hsha384"
/// HMAC with SHA-512.
nonisolated(unsafe) public let kSecAttrPRFHmacAlgSHA512: CFString = "hsha512"

// MARK: Protocols: values of `kSecAttrProtocol`; trailing blanks count

/// FTP.
nonisolated(unsafe) public let kSecAttrProtocolFTP: CFString = "ftp "
/// FTP, the account on a client.
nonisolated(unsafe) public let kSecAttrProtocolFTPAccount: CFString = "ftpa"
/// A proxy for FTP.
nonisolated(unsafe) public let kSecAttrProtocolFTPProxy: CFString = "ftpx"
/// FTP over TLS.
nonisolated(unsafe) public let kSecAttrProtocolFTPS: CFString = "ftps"
/// HTTP.
nonisolated(unsafe) public let kSecAttrProtocolHTTP: CFString = "http"
/// A proxy for HTTP.
nonisolated(unsafe) public let kSecAttrProtocolHTTPProxy: CFString = "htpx"
/// HTTP over TLS.
nonisolated(unsafe) public let kSecAttrProtocolHTTPS: CFString = "htps"
/// A proxy for HTTP over TLS.
nonisolated(unsafe) public let kSecAttrProtocolHTTPSProxy: CFString = "htsx"
/// IRC.
nonisolated(unsafe) public let kSecAttrProtocolIRC: CFString = "irc "
/// IRC over TLS.
nonisolated(unsafe) public let kSecAttrProtocolIRCS: CFString = "ircs"
/// NNTP.
nonisolated(unsafe) public let kSecAttrProtocolNNTP: CFString = "nntp"
/// NNTP over TLS.
nonisolated(unsafe) public let kSecAttrProtocolNNTPS: CFString = "ntps"
/// POP3.
nonisolated(unsafe) public let kSecAttrProtocolPOP3: CFString = "pop3"
/// POP3 over TLS.
nonisolated(unsafe) public let kSecAttrProtocolPOP3S: CFString = "pops"
/// SMTP.
nonisolated(unsafe) public let kSecAttrProtocolSMTP: CFString = "smtp"
/// A SOCKS proxy.
nonisolated(unsafe) public let kSecAttrProtocolSOCKS: CFString = "sox "
/// IMAP.
nonisolated(unsafe) public let kSecAttrProtocolIMAP: CFString = "imap"
/// IMAP over TLS.
nonisolated(unsafe) public let kSecAttrProtocolIMAPS: CFString = "imps"
/// LDAP.
nonisolated(unsafe) public let kSecAttrProtocolLDAP: CFString = "ldap"
/// LDAP over TLS.
nonisolated(unsafe) public let kSecAttrProtocolLDAPS: CFString = "ldps"
/// AppleTalk.
nonisolated(unsafe) public let kSecAttrProtocolAppleTalk: CFString = "atlk"
/// Apple's file protocol.
nonisolated(unsafe) public let kSecAttrProtocolAFP: CFString = "afp "
/// Telnet.
nonisolated(unsafe) public let kSecAttrProtocolTelnet: CFString = "teln"
/// Telnet over TLS.
nonisolated(unsafe) public let kSecAttrProtocolTelnetS: CFString = "tels"
/// SSH.
nonisolated(unsafe) public let kSecAttrProtocolSSH: CFString = "ssh "
/// SMB.
nonisolated(unsafe) public let kSecAttrProtocolSMB: CFString = "smb "
/// RTSP.
nonisolated(unsafe) public let kSecAttrProtocolRTSP: CFString = "rtsp"
/// A proxy for RTSP.
nonisolated(unsafe) public let kSecAttrProtocolRTSPProxy: CFString = "rtsx"
/// DAAP, Apple's protocol for audio.
nonisolated(unsafe) public let kSecAttrProtocolDAAP: CFString = "daap"
/// Remote Apple events.
nonisolated(unsafe) public let kSecAttrProtocolEPPC: CFString = "eppc"
/// IPP, for printers.
nonisolated(unsafe) public let kSecAttrProtocolIPP: CFString = "ipp "

// MARK: Authentication: values of `kSecAttrAuthenticationType`

/// Windows NT LAN Manager.
nonisolated(unsafe) public let kSecAttrAuthenticationTypeNTLM: CFString = "ntlm"
/// Microsoft Network.
nonisolated(unsafe) public let kSecAttrAuthenticationTypeMSN: CFString = "msna"
/// Distributed password authentication.
nonisolated(unsafe) public let kSecAttrAuthenticationTypeDPA: CFString = "dpaa"
/// Remote password authentication.
nonisolated(unsafe) public let kSecAttrAuthenticationTypeRPA: CFString = "rpaa"
/// HTTP's Basic scheme (RFC 7617).
nonisolated(unsafe) public let kSecAttrAuthenticationTypeHTTPBasic: CFString = "http"
/// HTTP's Digest scheme (RFC 7616).
nonisolated(unsafe) public let kSecAttrAuthenticationTypeHTTPDigest: CFString = "httd"
/// A form in a page.
nonisolated(unsafe) public let kSecAttrAuthenticationTypeHTMLForm: CFString = "form"
/// The default of the server.
nonisolated(unsafe) public let kSecAttrAuthenticationTypeDefault: CFString = "dflt"
