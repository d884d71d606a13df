// SPDX-License-Identifier: Apache-2.0

// Texts about a certificate's subject, for display.

extension Certificate {
    /// The last common name of the subject, if there is one.
    public var commonName: String? { subject.values(of: .commonName).last?.text }

    /// A short name of the subject: the first that exists of common name, organizational unit,
    /// organization, email address and alternative name.
    public var subjectSummary: String? {
        let named = [ObjectIdentifier.commonName, .organizationalUnitName, .organizationName].lazy.compactMap { type in
            self.subject.values(of: type).last?.text
        }
        return named.first ?? emailAddresses.first ?? extensions.subjectAlternativeNames?.first?.description
    }

    /// The signature algorithm, as in `SHA-256 with RSA`, or its object identifier if it has no
    /// name here.
    public var signatureName: String { SignatureScheme.name(of: signatureAlgorithm.algorithm) }

    /// The email addresses of the alternative names, then those of the subject that are not among
    /// them (RFC 8550, section 3).
    public var emailAddresses: [String] {
        let alternative = (extensions.subjectAlternativeNames ?? []).compactMap { name in
            if case .email(let bytes) = name { String(decoding: bytes, as: UTF8.self) } else { String?.none }
        }
        let known = Set(alternative)
        return alternative + subject.values(of: .emailAddressName).compactMap(\.text).filter { !known.contains($0) }
    }
}
