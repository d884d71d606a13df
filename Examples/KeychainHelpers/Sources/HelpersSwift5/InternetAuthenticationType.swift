// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security

/// How the server is convinced: one case for each `kSecAttrAuthenticationType…` constant.
enum InternetAuthenticationType: CaseIterable, Sendable {
    case ntlm
    case msn
    case dpa
    case rpa
    case httpBasic
    case httpDigest
    case htmlForm
    case `default`
}

/// The raw value is the keychain's own: the text of the constant.
extension InternetAuthenticationType: RawRepresentable {
    init?(rawValue: String) {
        switch rawValue {
        case String(kSecAttrAuthenticationTypeNTLM): self = .ntlm
        case String(kSecAttrAuthenticationTypeMSN): self = .msn
        case String(kSecAttrAuthenticationTypeDPA): self = .dpa
        case String(kSecAttrAuthenticationTypeRPA): self = .rpa
        case String(kSecAttrAuthenticationTypeHTTPBasic): self = .httpBasic
        case String(kSecAttrAuthenticationTypeHTTPDigest): self = .httpDigest
        case String(kSecAttrAuthenticationTypeHTMLForm): self = .htmlForm
        case String(kSecAttrAuthenticationTypeDefault): self = .`default`
        default: return nil
        }
    }

    var rawValue: String {
        switch self {
        case .ntlm: return String(kSecAttrAuthenticationTypeNTLM)
        case .msn: return String(kSecAttrAuthenticationTypeMSN)
        case .dpa: return String(kSecAttrAuthenticationTypeDPA)
        case .rpa: return String(kSecAttrAuthenticationTypeRPA)
        case .httpBasic: return String(kSecAttrAuthenticationTypeHTTPBasic)
        case .httpDigest: return String(kSecAttrAuthenticationTypeHTTPDigest)
        case .htmlForm: return String(kSecAttrAuthenticationTypeHTMLForm)
        case .`default`: return String(kSecAttrAuthenticationTypeDefault)
        }
    }
}
