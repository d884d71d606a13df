// SPDX-License-Identifier: Apache-2.0

/// A trust setting of the user or the administrator for one certificate, for one policy or for all.
public struct TrustSetting: Hashable, Sendable {
    /// The decision of the setting. The values are Apple's `SecTrustSettingsResult`.
    public enum Result: Int, Sendable, CaseIterable {
        /// The self-signed certificate is an anchor.
        case trustRoot = 1
        /// The certificate is an anchor, although it is not self-signed.
        case trustAsRoot = 2
        /// No chain may contain the certificate.
        case deny = 3
        /// No decision about trust; the setting may still allow an error.
        case unspecified = 4
    }

    public var result: Result
    /// Nil for all policies.
    public var policy: Policy?
    /// The host or the email address that the setting is for; nil for all.
    public var name: String?
    /// A rule with failures that are ignored for this certificate.
    public var allowedError: TrustRule?

    public init(_ result: Result, policy: Policy? = nil, name: String? = nil, allowedError: TrustRule? = nil) {
        self.result = result
        self.policy = policy
        self.name = name
        self.allowedError = allowedError
    }

    /// The policies of trust settings. The raw values are the names in `security` and its property
    /// lists.
    public enum Policy: String, Sendable, CaseIterable {
        case basic = "basicX509"
        case server = "sslServer"
        case client = "sslClient"
        case mail = "SMIME"
        case codeSigning = "CodeSigning"
        case timeStamping = "AppleTimeStamping"
    }

    /// Whether the setting applies to a policy.
    func applies(to asked: TrustPolicy) -> Bool {
        let (own, subject) = asked.settingsPolicy
        guard policy == nil || policy == own else { return false }
        return name == nil || name?.lowercased() == subject?.lowercased()
    }
}

extension TrustPolicy {
    /// The policy in trust settings; nil if there is none, so that only settings for all policies
    /// apply.
    fileprivate var settingsPolicy: (TrustSetting.Policy?, subject: String?) {
        switch self {
        case .basicX509, .revocation: (.basic, nil)
        case .server(let name): (.server, name?.description)
        case .client(let name): (.client, name?.description)
        case .mail(let address): (.mail, address)
        case .codeSigning: (.codeSigning, nil)
        case .timeStamping: (.timeStamping, nil)
        case .eapServer, .eapClient, .macAppStoreReceipt, .appleID, .pass: (nil, nil)
        case .ipsec(_, let name): (nil, name?.description)
        case .keyUsages(_, let policy): policy.settingsPolicy
        }
    }
}
