// SPDX-License-Identifier: Apache-2.0

/// A cipher suite that connections may have. Suites without encryption or authentication, and with
/// RC4, DES, 3DES or export keys, are not listed, so they are refused as unknown.
public struct CipherSuite: Hashable, Sendable {
    public enum KeyExchange: Hashable, Sendable {
        /// TLS 1.3, with an ephemeral key.
        case tls13
        case ecdhe
        case dhe
        /// The server's key decrypts, so that who learns it later can read the connection.
        case rsa
    }

    /// The name in IANA's registry.
    public let name: String
    /// OpenSSL's and BoringSSL's name.
    public let shortName: String
    public let keyExchange: KeyExchange
    /// Whether App Transport Security accepts the suite where it requires forward secrecy.
    public let isForwardSecret: Bool

    /// The suite with this name in one of both forms; nil if it is not listed.
    public init?(named name: String) {
        guard let suite = Self.all.first(where: { $0.name == name || $0.shortName == name }) else { return nil }
        self = suite
    }

    private init(_ name: String, _ shortName: String, _ keyExchange: KeyExchange, isForwardSecret: Bool = false) {
        (self.name, self.shortName, self.keyExchange) = (name, shortName, keyExchange)
        self.isForwardSecret = isForwardSecret
    }

    /// The listed suites that App Transport Security accepts with forward secrecy: TLS 1.3's, the
    /// eleven that Apple lists, and those of RFC 7905.
    public static let forwardSecret = [
        Self("TLS_AES_128_GCM_SHA256", "TLS_AES_128_GCM_SHA256", .tls13, isForwardSecret: true),
        Self("TLS_AES_256_GCM_SHA384", "TLS_AES_256_GCM_SHA384", .tls13, isForwardSecret: true),
        Self("TLS_CHACHA20_POLY1305_SHA256", "TLS_CHACHA20_POLY1305_SHA256", .tls13, isForwardSecret: true),
        ecdhe("ECDSA_WITH_AES_256_GCM_SHA384", "ECDSA-AES256-GCM-SHA384"),
        ecdhe("ECDSA_WITH_AES_128_GCM_SHA256", "ECDSA-AES128-GCM-SHA256"),
        ecdhe("ECDSA_WITH_AES_256_CBC_SHA384", "ECDSA-AES256-SHA384"),
        ecdhe("ECDSA_WITH_AES_256_CBC_SHA", "ECDSA-AES256-SHA"),
        ecdhe("ECDSA_WITH_AES_128_CBC_SHA256", "ECDSA-AES128-SHA256"),
        ecdhe("ECDSA_WITH_AES_128_CBC_SHA", "ECDSA-AES128-SHA"),
        ecdhe("RSA_WITH_AES_256_GCM_SHA384", "RSA-AES256-GCM-SHA384"),
        ecdhe("RSA_WITH_AES_128_GCM_SHA256", "RSA-AES128-GCM-SHA256"),
        ecdhe("RSA_WITH_AES_256_CBC_SHA384", "RSA-AES256-SHA384"),
        ecdhe("RSA_WITH_AES_128_CBC_SHA256", "RSA-AES128-SHA256"),
        ecdhe("RSA_WITH_AES_128_CBC_SHA", "RSA-AES128-SHA"),
        ecdhe("ECDSA_WITH_CHACHA20_POLY1305_SHA256", "ECDSA-CHACHA20-POLY1305"),
        ecdhe("RSA_WITH_CHACHA20_POLY1305_SHA256", "RSA-CHACHA20-POLY1305"),
    ]

    /// All listed suites.
    public static let all =
        forwardSecret + [
            Self("TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA", "ECDHE-RSA-AES256-SHA", .ecdhe),
            Self("TLS_DHE_RSA_WITH_AES_256_GCM_SHA384", "DHE-RSA-AES256-GCM-SHA384", .dhe),
            Self("TLS_DHE_RSA_WITH_AES_128_GCM_SHA256", "DHE-RSA-AES128-GCM-SHA256", .dhe),
            Self("TLS_DHE_RSA_WITH_AES_256_CBC_SHA256", "DHE-RSA-AES256-SHA256", .dhe),
            Self("TLS_DHE_RSA_WITH_AES_128_CBC_SHA256", "DHE-RSA-AES128-SHA256", .dhe),
            Self("TLS_DHE_RSA_WITH_AES_256_CBC_SHA", "DHE-RSA-AES256-SHA", .dhe),
            Self("TLS_DHE_RSA_WITH_AES_128_CBC_SHA", "DHE-RSA-AES128-SHA", .dhe),
            Self("TLS_RSA_WITH_AES_256_GCM_SHA384", "AES256-GCM-SHA384", .rsa),
            Self("TLS_RSA_WITH_AES_128_GCM_SHA256", "AES128-GCM-SHA256", .rsa),
            Self("TLS_RSA_WITH_AES_256_CBC_SHA256", "AES256-SHA256", .rsa),
            Self("TLS_RSA_WITH_AES_128_CBC_SHA256", "AES128-SHA256", .rsa),
            Self("TLS_RSA_WITH_AES_256_CBC_SHA", "AES256-SHA", .rsa),
            Self("TLS_RSA_WITH_AES_128_CBC_SHA", "AES128-SHA", .rsa),
        ]

    private static func ecdhe(_ name: String, _ shortName: String) -> Self {
        Self("TLS_ECDHE_\(name)", "ECDHE-\(shortName)", .ecdhe, isForwardSecret: true)
    }
}
