// SPDX-License-Identifier: Apache-2.0

/// How an internet password is sent, in the functions with buffers. In dictionaries it is
/// `kSecAttrAuthenticationType`.
///
/// The numbers are those of macOS: the four characters with the first one in the lowest byte.
public enum SecAuthenticationType: FourCharCode, Sendable {
    /// Windows NT LAN Manager.
    case NTLM = 0x6D6C_746E
    /// Microsoft Network.
    case MSN = 0x616E_736D
    /// Distributed password authentication.
    case DPA = 0x6161_7064
    /// Remote password authentication.
    case RPA = 0x6161_7072
    /// HTTP's Basic scheme (RFC 7617).
    case httpBasic = 0x7074_7468
    /// HTTP's Digest scheme (RFC 7616).
    case httpDigest = 0x6474_7468
    /// A form in a page.
    case htmlForm = 0x6D72_6F66
    /// The default of the server.
    case `default` = 0x746C_6664
    /// Any kind in a search; none in a new item.
    case any = 0

    /// The value of `kSecAttrAuthenticationType`; nil for ``any``.
    var attribute: String? { self == .any ? nil : rawValue.byteSwapped.fourCharacters }
}
