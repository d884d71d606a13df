// SPDX-License-Identifier: Apache-2.0

internal import FoundationNetworking
internal import enum OpenSSLCrypto.AuthenticationHash

/// A way to answer a 401, of those that a server offers.
enum AuthenticationScheme: Hashable, Sendable {
    case digest(DigestChallenge)
    case basic(realm: String)

    var realm: String {
        switch self {
        case .digest(let challenge): challenge.realm
        case .basic(let realm): realm
        }
    }

    /// Whether the answer needs the bytes of the request's body.
    var protectsBody: Bool {
        if case .digest(let challenge) = self { challenge.quality == .requestAndBody } else { false }
    }

    var method: String {
        switch self {
        case .digest: NSURLAuthenticationMethodHTTPDigest
        case .basic: NSURLAuthenticationMethodHTTPBasic
        }
    }

    /// Returns the supported schemes, the strongest first. Digest with MD5 is used only if the server offers no better
    /// hash, and then before Basic, because Basic shows the password.
    static func supported(_ challenges: [AuthenticateChallenge]) -> [AuthenticationScheme] {
        let digests = challenges.compactMap(DigestChallenge.init)
        let best = digests.max { strength($0.hash) < strength($1.hash) }
        let basic = challenges.first { $0.scheme == "basic" && $0.realm != nil }
        return [best.map { .digest($0) }, basic.map { .basic(realm: $0.realm ?? "") }].compactMap(\.self)
    }

    private static func strength(_ hash: AuthenticationHash) -> Int {
        switch hash {
        case .md5: 0
        case .sha256: 1
        case .sha512of256: 2
        }
    }
}
