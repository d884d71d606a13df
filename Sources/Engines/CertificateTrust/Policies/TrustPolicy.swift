// SPDX-License-Identifier: Apache-2.0

/// What a chain is to be good for, beyond leading to an anchor.
public enum TrustPolicy: Hashable, Sendable {
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
    /// That nothing was revoked, beside the other policies.
    case revocation(RevocationOptions)

    var rules: [any ChainRule] {
        switch self {
        // What the latter needs is the evaluation's.
        case .basicX509, .revocation: []
        case .server(let name):
            [
                EndEntityRule(), ValidityPeriodRule(), HostNameFormRule(),
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
                KeyUsageRule(usages: [.digitalSignature, .contentCommitment, .keyEncipherment, .keyAgreement]),
            ] + (address.map { [MailAddressRule(address: $0)] } ?? [])
        case .codeSigning:
            [ExtendedKeyUsageRule(usage: .codeSigning, isNamed: true), KeyUsageRule(usages: .digitalSignature)]
        case .timeStamping:
            [
                ExtendedKeyUsageRule(usage: .timeStamping, isNamed: true), TimeStampingRule(),
                KeyUsageRule(usages: [.digitalSignature, .contentCommitment]),
            ]
        }
    }
}

// MARK: Leaves

extension TrustPolicy {
    /// Why a certificate cannot be what the policy asks for, whoever has issued it; nil where it can.
    ///
    /// - Parameter moment: seconds since 1970.
    public func failure(ofLeaf certificate: Certificate, at moment: Double) -> TrustFailure? {
        var budget = WorkBudget()
        let alone = Chain(certificates: [certificate])
        for rule in [FormRule(), ValidityRule(moment: moment)] + rules {
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
        case .revocation: "revocation"
        }
    }
}
