// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// The protocol of an internet password, in the functions with buffers. In dictionaries it is
/// `kSecAttrProtocol`.
public enum SecProtocolType: FourCharCode, Sendable {
    /// FTP.
    case FTP = 0x6674_7020
    /// FTP, the account on a client.
    case ftpAccount = 0x6674_7061
    /// HTTP.
    case HTTP = 0x6874_7470
    /// IRC.
    case IRC = 0x6972_6320
    /// NNTP.
    case NNTP = 0x6E6E_7470
    /// POP3.
    case POP3 = 0x706F_7033
    /// SMTP.
    case SMTP = 0x736D_7470
    /// A SOCKS proxy.
    case SOCKS = 0x736F_7820
    /// IMAP.
    case IMAP = 0x696D_6170
    /// LDAP.
    case LDAP = 0x6C64_6170
    /// AppleTalk.
    case appleTalk = 0x6174_6C6B
    /// Apple's file protocol.
    case AFP = 0x6166_7020
    /// Telnet.
    case telnet = 0x7465_6C6E
    /// SSH.
    case SSH = 0x7373_6820
    /// FTP over TLS.
    case FTPS = 0x6674_7073
    /// HTTP over TLS.
    case HTTPS = 0x6874_7073
    /// A proxy for HTTP.
    case httpProxy = 0x6874_7078
    /// A proxy for HTTP over TLS.
    case httpsProxy = 0x6874_7378
    /// A proxy for FTP.
    case ftpProxy = 0x6674_7078
    /// CIFS, the older name of SMB.
    case CIFS = 0x6369_6673
    /// SMB.
    case SMB = 0x736D_6220
    /// RTSP.
    case RTSP = 0x7274_7370
    /// A proxy for RTSP.
    case rtspProxy = 0x7274_7378
    /// DAAP, Apple's protocol for audio.
    case DAAP = 0x6461_6170
    /// Remote Apple events.
    case EPPC = 0x6570_7063
    /// IPP, for printers.
    case IPP = 0x6970_7020
    /// NNTP over TLS.
    case NNTPS = 0x6E74_7073
    /// LDAP over TLS.
    case LDAPS = 0x6C64_7073
    /// Telnet over TLS.
    case telnetS = 0x7465_6C73
    /// IMAP over TLS.
    case IMAPS = 0x696D_7073
    /// IRC over TLS.
    case IRCS = 0x6972_6373
    /// POP3 over TLS.
    case POP3S = 0x706F_7073
    /// The server of CVS.
    case cvSpserver = 0x6376_7370
    /// Subversion.
    case SVN = 0x7376_6E20
    /// Any protocol in a search; none in a new item.
    case any = 0

    /// The value of `kSecAttrProtocol`; nil for ``any``.
    var attribute: String? { self == .any ? nil : rawValue.fourCharacters }
}

extension FourCharCode {
    /// The four characters, the first from the highest byte.
    var fourCharacters: String {
        String(decoding: bigEndianBytes, as: UTF8.self)
    }
}
