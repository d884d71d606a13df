// SPDX-License-Identifier: Apache-2.0

/// The holder of a Secure Enclave's private keys, with its value of `kSecAttrTokenID`.
public enum EnclaveKind: String, Sendable, CaseIterable {
    /// A TPM 2.0. The value is Apple's.
    case tpm = "com.apple.setoken"
    /// The system's latchkeyd itself, where the owner has allowed that.
    case software = "com.apple.setoken:software"

    /// The value that a program uses for every Secure Enclave.
    public static let requested = EnclaveKind.tpm.rawValue

    /// The name in reports: `tpm`, `software`.
    public var shortName: String { self == .tpm ? "tpm" : "software" }
}

extension ItemRecord {
    /// Whether the item is a key that is held by a token: its bytes are no key.
    public var isTokenKey: Bool {
        itemClass == .key && attributes[.tokenIdentifier].map { !$0.canonicalBytes.isEmpty } == true
    }

    /// Whether the item is a key of a token that its program has not named: no search finds it.
    public var isUnnamedTokenKey: Bool { isTokenKey && attributes[.isPermanent] == .number(0) }

    /// The kind of enclave that holds the private key; nil if the key is not in a Secure Enclave.
    public var enclave: EnclaveKind? {
        guard itemClass == .key, case .string(let token)? = attributes[.tokenIdentifier] else { return nil }
        return EnclaveKind(rawValue: token)
    }
}
