// SPDX-License-Identifier: Apache-2.0

/// What a chain is to be good for, beyond leading to an anchor.
public indirect enum TrustPolicy: Hashable, Sendable {
    /// RFC 5280 alone.
    case basicX509
    /// A server of TLS; nil for the name of any.
    case server(ServerName?)
    /// A client of TLS; with a name it has to be this host's.
    case client(ServerName?)
    /// Mail; nil for anybody's address.
    case mail(address: String?)
    case codeSigning
    case timeStamping
    /// A server of EAP, one of these; nil for any.
    case eapServer([TrustedServerName]?)
    /// A client of EAP, by one of these names; nil for any.
    case eapClient([TrustedServerName]?)
    /// A server or a client of IPsec; nil for the name of any.
    case ipsec(isServer: Bool, ServerName?)
    /// Apple's receipts of the Mac App Store, Apple IDs and passes.
    case macAppStoreReceipt
    case appleID
    case pass(type: String?, team: String)
    /// Another policy, with these uses of the leaf's key in place of those that it asks for: one of them has to be named.
    case keyUsages(KeyUsage, of: TrustPolicy)
    /// That nothing was revoked, beside the other policies.
    case revocation(RevocationOptions)

    var rules: [any ChainRule] {
        switch self {
        // What the latter needs is the evaluation's.
        case .basicX509, .revocation: []
        case .server(let name):
            [
                EndEntityRule(), ValidityPeriodRule(), HostNameSyntaxRule(),
                ExtendedKeyUsageRule(usage: .serverAuthentication, isNamed: true),
                KeyUsageRule(usages: [.digitalSignature, .keyEncipherment, .keyAgreement]),
            ] + (name.map { [ServerNameRule(server: $0)] } ?? [])
        case .client(let name):
            [
                ExtendedKeyUsageRule(usage: .clientAuthentication, isNamed: false),
                KeyUsageRule(usages: [.digitalSignature, .keyAgreement]),
            ] + (name.map { [ServerNameRule(server: $0)] } ?? [])
        case .mail(let address):
            [
                ExtendedKeyUsageRule(usage: .emailProtection, isNamed: false),
                KeyUsageRule(usages: [
                    .digitalSignature, .contentCommitment, .keyEncipherment, .dataEncipherment, .keyAgreement,
                ]),
            ] + (address.map { [EmailAddressRule(address: $0)] } ?? [])
        case .codeSigning:
            [
                ExtendedKeyUsageRule(usage: .codeSigning, isNamed: true),
                KeyUsageRule(usages: [.digitalSignature, .contentCommitment]),
            ]
        case .timeStamping:
            [
                ExtendedKeyUsageRule(usage: .timeStamping, isNamed: true), TimeStampingRule(),
                KeyUsageRule(usages: [.digitalSignature, .contentCommitment]),
            ]
        case .eapServer(let names): Self.eapRules(.serverAuthentication, names)
        case .eapClient(let names): Self.eapRules(.clientAuthentication, names)
        // Apple's asks for no extended key usage, since many certificates of gateways have none.
        case .ipsec(_, let name): [EndEntityRule()] + (name.map { [ServerNameRule(server: $0)] } ?? [])
        case .macAppStoreReceipt, .appleID, .pass: appleProfile?.rules ?? []
        case .keyUsages(let usages, let policy):
            policy.rules.filter { !($0 is KeyUsageRule) } + [NamedKeyUsageRule(usages: usages)]
        }
    }

    private static func eapRules(_ usage: ObjectIdentifier, _ names: [TrustedServerName]?) -> [any ChainRule] {
        [EndEntityRule(), ExtendedKeyUsageRule(usage: usage, isNamed: false)]
            + (names.map { [TrustedServerNameRule(names: $0)] } ?? [])
    }

    private var appleProfile: AppleProfile? {
        switch self {
        case .macAppStoreReceipt: .macAppStoreReceipt
        case .appleID: .appleID
        case .pass(let type, let team): .pass(type: type, team: team)
        default: nil
        }
    }

    /// How revocation is looked at; nil where the policy does not ask.
    var revocationOptions: RevocationOptions? {
        switch self {
        case .revocation(let options): options
        // As Apple's does, by whatever can be had.
        case .macAppStoreReceipt: [.ocsp, .lists]
        case .keyUsages(_, let policy): policy.revocationOptions
        default: nil
        }
    }
}

// MARK: Leaves

extension TrustPolicy {
    /// Why a certificate cannot be what the policy asks for, whoever has issued it; nil where it can.
    ///
    /// - Parameter validationTime: seconds since 1970.
    public func failure(ofLeaf certificate: Certificate, at validationTime: Double) -> TrustFailure? {
        var budget = WorkBudget()
        let alone = Chain(certificates: [certificate])
        // What is above it is not known.
        for rule in [WellFormedRule(), ValidityRule(validationTime: validationTime)] + rules
        where !(rule is AppleChainRule) {
            do throws(TrustFailure) { try rule.check(alone, &budget) } catch { return error }
        }
        return nil
    }
}

// MARK: CustomStringConvertible

extension TrustPolicy: CustomStringConvertible {
    public var description: String {
        switch self {
        case .basicX509: "any certificate"
        case .server(let name): name.map { "the TLS server \($0)" } ?? "any TLS server"
        case .client(let name): name.map { "the TLS client \($0)" } ?? "any TLS client"
        case .mail(let address): address.map { "mail of \($0)" } ?? "mail"
        case .codeSigning: "signed code"
        case .timeStamping: "signed times"
        case .eapServer(let names): names.map { "the EAP server \(Self.list($0))" } ?? "any EAP server"
        case .eapClient(let names): names.map { "the EAP client \(Self.list($0))" } ?? "any EAP client"
        case .ipsec(let isServer, let name):
            "the IPsec \(isServer ? "server" : "client") \(name?.description ?? "of any name")"
        case .macAppStoreReceipt: "receipts of the Mac App Store"
        case .appleID: "Apple IDs"
        case .pass(let type, let team): "passes \(type ?? "of any type") of the team \(team)"
        case .keyUsages(let usages, let policy): "\(policy), with a key for \(usages)"
        case .revocation: "revocation"
        }
    }

    private static func list(_ names: [TrustedServerName]) -> String {
        names.prefix(5).map(\.text).joined(separator: " or ")
    }
}
