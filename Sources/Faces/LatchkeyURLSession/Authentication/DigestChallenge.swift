// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem
internal import enum OpenSSLCrypto.AuthenticationHash
internal import struct OpenSSLCrypto.OpenSSLError

/// A challenge of digest authentication that can be answered (RFC 7616).
struct DigestChallenge: Hashable, Sendable {
    let realm, nonce: String
    let opaque: String?
    let hash: AuthenticationHash
    /// Whether the key is made anew with each nonce (`-sess`).
    let isSession: Bool
    /// Nil for the older form without it (RFC 2069).
    let quality: Quality?
    let hashesUser: Bool
    /// Whether the last answer was right, for a nonce that has expired.
    let isStale: Bool

    /// The parts of the request that the response protects. The body only if the server offers nothing else, because
    /// then it must be in memory.
    enum Quality: String, Sendable {
        case request = "auth"
        case requestAndBody = "auth-int"
    }

    /// Nil if the challenge is another scheme's, or requires an unsupported feature, such as another algorithm.
    init?(_ challenge: AuthenticateChallenge) {
        guard challenge.scheme == "digest", let realm = challenge.realm, let nonce = challenge.parameters["nonce"]
        else { return nil }
        let name = (challenge.parameters["algorithm"] ?? "MD5").uppercased()
        isSession = name.hasSuffix("-SESS")
        guard let hash = AuthenticationHash(rawValue: isSession ? String(name.dropLast(5)) : name) else { return nil }
        let qualities = challenge.parameters["qop"]?.lowercased().split(whereSeparator: { ", \t".contains($0) })
        let quality: Quality? = [.request, .requestAndBody].first {
            qualities?.contains(Substring($0.rawValue)) ?? false
        }
        guard quality != nil || (qualities == nil && !isSession) else { return nil }
        (self.realm, self.nonce, self.hash) = (realm, nonce, hash)
        opaque = challenge.parameters["opaque"]
        self.quality = quality
        hashesUser = challenge.parameters["userhash"]?.lowercased() == "true"
        isStale = challenge.parameters["stale"]?.lowercased() == "true"
    }

    var algorithm: String { hash.rawValue + (isSession ? "-sess" : "") }

    /// The value of `Authorization`.
    ///
    /// - Parameters:
    ///   - count: how often the nonce was used, with this time.
    ///   - clientNonce: a random text without quotes.
    ///   - body: only used if it is protected.
    func authorization(
        user: String, password: String, method: String, uri: String, count: Int, clientNonce: String, body: [UInt8] = []
    ) throws(OpenSSLError) -> String {
        // EXPOSE: the digest is made from the password; Foundation's credential has it as a string.
        var key = try hashed("\(user):\(realm):\(password)")
        if isSession { key = try hashed("\(key):\(nonce):\(clientNonce)") }
        // RFC 7616, section 3.4.3.
        let content = quality == .requestAndBody ? ":\(try hash.hexadecimal(of: body))" : ""
        let request = try hashed("\(method):\(uri)\(content)")
        let padded = Hexadecimal.text(UInt32(clamping: count).bigEndianBytes)
        let middle = quality.map { "\(nonce):\(padded):\(clientNonce):\($0.rawValue)" } ?? nonce
        let response = try hashed("\(key):\(middle):\(request)")
        var parts = [
            try userPart(user), "realm=\(Self.quoted(realm))", "uri=\(Self.quoted(uri))", "algorithm=\(algorithm)",
            "nonce=\(Self.quoted(nonce))",
        ]
        if let quality {
            parts += ["nc=\(padded)", "cnonce=\(Self.quoted(clientNonce))", "qop=\(quality.rawValue)"]
        }
        parts.append("response=\"\(response)\"")
        if let opaque { parts.append("opaque=\(Self.quoted(opaque))") }
        if hashesUser { parts.append("userhash=true") }
        return "Digest " + parts.joined(separator: ", ")
    }

    private func userPart(_ user: String) throws(OpenSSLError) -> String {
        if hashesUser { return "username=\"\(try hashed("\(user):\(realm)"))\"" }
        let isPlain = user.utf8.allSatisfy { (0x20..<0x7F).contains($0) }
        guard !isPlain else { return "username=\(Self.quoted(user))" }
        // RFC 8187.
        let encoded = user.utf8.map { byte in
            let character = Character(Unicode.Scalar(byte))
            let isSafe = character.isASCII && (character.isLetter || character.isNumber || "-._~".contains(character))
            return isSafe ? String(character) : "%" + Hexadecimal.text(byte, isUppercase: true)
        }
        return "username*=UTF-8''\(encoded.joined())"
    }

    private func hashed(_ text: String) throws(OpenSSLError) -> String { try hash.hexadecimal(of: Array(text.utf8)) }

    private static func quoted(_ text: String) -> String {
        "\"" + text.flatMap { "\"\\".contains($0) ? ["\\", $0] : [$0] } + "\""
    }
}
