// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security

/// The protocol of the server: one case for each `kSecAttrProtocol…` constant.
enum InternetProtocol: CaseIterable, Sendable {
    case ftp
    case ftpAccount
    case ftpProxy
    case ftps
    case http
    case httpProxy
    case https
    case httpsProxy
    case irc
    case ircs
    case nntp
    case nntps
    case pop3
    case pop3s
    case smtp
    case socks
    case imap
    case imaps
    case ldap
    case ldaps
    case appleTalk
    case afp
    case telnet
    case telnetS
    case ssh
    case smb
    case rtsp
    case rtspProxy
    case daap
    case eppc
    case ipp
}

/// The raw value is the keychain's own: the text of the constant.
extension InternetProtocol: RawRepresentable {
    init?(rawValue: String) {
        switch rawValue {
        case String(kSecAttrProtocolFTP): self = .ftp
        case String(kSecAttrProtocolFTPAccount): self = .ftpAccount
        case String(kSecAttrProtocolFTPProxy): self = .ftpProxy
        case String(kSecAttrProtocolFTPS): self = .ftps
        case String(kSecAttrProtocolHTTP): self = .http
        case String(kSecAttrProtocolHTTPProxy): self = .httpProxy
        case String(kSecAttrProtocolHTTPS): self = .https
        case String(kSecAttrProtocolHTTPSProxy): self = .httpsProxy
        case String(kSecAttrProtocolIRC): self = .irc
        case String(kSecAttrProtocolIRCS): self = .ircs
        case String(kSecAttrProtocolNNTP): self = .nntp
        case String(kSecAttrProtocolNNTPS): self = .nntps
        case String(kSecAttrProtocolPOP3): self = .pop3
        case String(kSecAttrProtocolPOP3S): self = .pop3s
        case String(kSecAttrProtocolSMTP): self = .smtp
        case String(kSecAttrProtocolSOCKS): self = .socks
        case String(kSecAttrProtocolIMAP): self = .imap
        case String(kSecAttrProtocolIMAPS): self = .imaps
        case String(kSecAttrProtocolLDAP): self = .ldap
        case String(kSecAttrProtocolLDAPS): self = .ldaps
        case String(kSecAttrProtocolAppleTalk): self = .appleTalk
        case String(kSecAttrProtocolAFP): self = .afp
        case String(kSecAttrProtocolTelnet): self = .telnet
        case String(kSecAttrProtocolTelnetS): self = .telnetS
        case String(kSecAttrProtocolSSH): self = .ssh
        case String(kSecAttrProtocolSMB): self = .smb
        case String(kSecAttrProtocolRTSP): self = .rtsp
        case String(kSecAttrProtocolRTSPProxy): self = .rtspProxy
        case String(kSecAttrProtocolDAAP): self = .daap
        case String(kSecAttrProtocolEPPC): self = .eppc
        case String(kSecAttrProtocolIPP): self = .ipp
        default: return nil
        }
    }

    var rawValue: String {
        switch self {
        case .ftp: return String(kSecAttrProtocolFTP)
        case .ftpAccount: return String(kSecAttrProtocolFTPAccount)
        case .ftpProxy: return String(kSecAttrProtocolFTPProxy)
        case .ftps: return String(kSecAttrProtocolFTPS)
        case .http: return String(kSecAttrProtocolHTTP)
        case .httpProxy: return String(kSecAttrProtocolHTTPProxy)
        case .https: return String(kSecAttrProtocolHTTPS)
        case .httpsProxy: return String(kSecAttrProtocolHTTPSProxy)
        case .irc: return String(kSecAttrProtocolIRC)
        case .ircs: return String(kSecAttrProtocolIRCS)
        case .nntp: return String(kSecAttrProtocolNNTP)
        case .nntps: return String(kSecAttrProtocolNNTPS)
        case .pop3: return String(kSecAttrProtocolPOP3)
        case .pop3s: return String(kSecAttrProtocolPOP3S)
        case .smtp: return String(kSecAttrProtocolSMTP)
        case .socks: return String(kSecAttrProtocolSOCKS)
        case .imap: return String(kSecAttrProtocolIMAP)
        case .imaps: return String(kSecAttrProtocolIMAPS)
        case .ldap: return String(kSecAttrProtocolLDAP)
        case .ldaps: return String(kSecAttrProtocolLDAPS)
        case .appleTalk: return String(kSecAttrProtocolAppleTalk)
        case .afp: return String(kSecAttrProtocolAFP)
        case .telnet: return String(kSecAttrProtocolTelnet)
        case .telnetS: return String(kSecAttrProtocolTelnetS)
        case .ssh: return String(kSecAttrProtocolSSH)
        case .smb: return String(kSecAttrProtocolSMB)
        case .rtsp: return String(kSecAttrProtocolRTSP)
        case .rtspProxy: return String(kSecAttrProtocolRTSPProxy)
        case .daap: return String(kSecAttrProtocolDAAP)
        case .eppc: return String(kSecAttrProtocolEPPC)
        case .ipp: return String(kSecAttrProtocolIPP)
        }
    }
}
