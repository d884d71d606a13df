// SPDX-License-Identifier: Apache-2.0

/// What a user or the administrator says of one certificate, for one use or for all.
public struct TrustSetting: Hashable, Sendable {
    /// The numbers are Apple's `SecTrustSettingsResult`.
    public enum Result: Int, Sendable, CaseIterable {
        /// The certificate, which has signed itself, is an anchor.
        case trustRoot = 1
        /// The certificate is an anchor, though it has not signed itself.
        case trustAsRoot = 2
        /// No chain may have the certificate in it.
        case deny = 3
        /// Nothing is said about trust; an allowed error may be.
        case unspecified = 4
    }

    public var result: Result
    /// Nil for all policies.
    public var policy: Policy?
    /// The host or the address of mail that the setting is for; nil for all.
    public var name: String?
    /// A rule whose failure about this certificate is overlooked.
    public var allowedError: TrustRule?

    public init(_ result: Result, policy: Policy? = nil, name: String? = nil, allowedError: TrustRule? = nil) {
        self.result = result
        self.policy = policy
        self.name = name
        self.allowedError = allowedError
    }

    /// The policies that settings are for, by the names that `security` and its property lists have for them.
    public enum Policy: String, Sendable, CaseIterable {
        case basic = "basicX509"
        case server = "sslServer"
        case client = "sslClient"
        case mail = "SMIME"
        case codeSigning = "CodeSigning"
        case timeStamping = "AppleTimeStamping"
    }

    /// Whether the setting says something about a policy.
    func applies(to asked: TrustPolicy) -> Bool {
        let (own, subject) = asked.settingsPolicy
        guard policy == nil || policy == own else { return false }
        return name == nil || name?.lowercased() == subject?.lowercased()
    }
}

extension TrustPolicy {
    /// Nil where no setting names the policy: then those for all policies count alone.
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
