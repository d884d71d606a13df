// SPDX-License-Identifier: Apache-2.0

/// What a chain is to be good for, beyond leading to an anchor.
public enum TrustPolicy: Hashable, Sendable {
    /// RFC 5280 alone.
    case basicX509
    /// A server of TLS; nil for the name of any.
    case server(ServerName?)
    /// A client of TLS.
    case client

    var rules: [any ChainRule] {
        switch self {
        case .basicX509: []
        case .server(let name):
            [ExtendedKeyUsageRule(usage: .serverAuthentication)] + (name.map { [ServerNameRule(server: $0)] } ?? [])
        case .client: [ExtendedKeyUsageRule(usage: .clientAuthentication)]
        }
    }
}
