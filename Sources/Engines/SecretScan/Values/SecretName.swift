// SPDX-License-Identifier: Apache-2.0

/// A name of a value, such as `db_password` or `clientSecret`, evaluated by its words.
package struct SecretName: Sendable {
    package enum Strength: Sendable, Comparable {
        /// The value is a secret only if it is the base64 of a name and a password: `auth`.
        case encoded
        /// The value is a secret only if it looks random: `token`.
        case weak
        /// The value is a secret unless it is a placeholder: `password`, `client_secret`.
        case strong
    }

    package let strength: Strength
    /// Whether the value is chosen by a person, so that it may be short and a word.
    package let isPassword: Bool

    /// - Returns: nil for a name of something else, such as `password_file` or `tokenizer`.
    package init?(_ name: some Collection<UInt8>) {
        let words = Self.words(of: name)
        guard let last = words.last, words.count <= 12 else { return nil }
        guard !words.contains(where: Self.negations.contains) else { return nil }
        let joined = words.suffix(3).joined()
        if Self.passwords.contains(last) || Self.passwords.contains(where: { $0.count > 4 && joined.hasSuffix($0) }) {
            (strength, isPassword) = (.strong, true)
        } else if Self.strongNames.contains(where: { joined.hasSuffix($0) }) {
            (strength, isPassword) = (.strong, false)
        } else if joined.hasSuffix("token") {
            (strength, isPassword) = (.weak, false)
        } else if last == "auth" {
            (strength, isPassword) = (.encoded, false)
        } else {
            return nil
        }
    }

    /// The words of a name in lower case. Words begin behind a separator, and at a capital letter after a small one.
    package static func words(of name: some Collection<UInt8>) -> [String] {
        var (words, word, previous) = ([String](), [UInt8](), UInt8(0))
        func isSmall(_ byte: UInt8) -> Bool { ByteClass.lowercase.contains(byte) || ByteClass.digits.contains(byte) }
        for byte in name {
            let isStart = ByteClass.uppercase.contains(byte) && isSmall(previous)
            if !ByteClass.alphanumeric.contains(byte) || isStart {
                if !word.isEmpty { words.append(String(decoding: word, as: UTF8.self)) }
                word = []
            }
            if ByteClass.alphanumeric.contains(byte) { word.append(byte.lowercased) }
            previous = byte
        }
        if !word.isEmpty { words.append(String(decoding: word, as: UTF8.self)) }
        // A number at the end counts: password2.
        if let last = words.last, let digit = last.firstIndex(where: \.isNumber), digit != last.startIndex {
            words[words.count - 1] = String(last[..<digit])
        } else if words.count > 1, words.last?.allSatisfy(\.isNumber) == true {
            words.removeLast()
        }
        return words
    }

    private static let passwords: Set<String> = [
        "password", "passwd", "passphrase", "passcode", "passwort", "pwd", "pass", "userpass", "rootpw", "bindpw",
        "kennwort", "contraseña", "senha", "motdepasse", "requirepass", "masterauth", "psk",
    ]
    private static let strongNames = [
        "secret", "apikey", "accesskey", "secretkey", "privatekey", "encryptionkey", "signingkey", "accountkey",
        "masterkey", "apitoken", "accesstoken", "authtoken", "refreshtoken", "bearertoken", "sessiontoken",
        "clientsecret", "secrettoken", "secretaccesskey", "sharedkey", "storagekey", "keybase64",
        "idtoken", "bottoken", "usertoken", "webhooksecret", "secretbase", "deploykey", "appkey", "apisecret",
        "presharedkey", "servicekey", "subscriptionkey", "licensekey", "authkey", "sessionkey",
        "connectionstring",
    ]
    /// Words in names of values that are no secrets.
    private static let negations: Set<String> = [
        "no", "is", "has", "max", "min", "forgot", "forget", "reset", "show", "hide", "enable", "enabled", "disable",
        "disabled", "file", "path", "url", "uri", "hint", "label", "prompt", "placeholder", "length", "policy",
        "invalid", "wrong", "missing", "error", "public", "csrf", "xsrf", "type", "field", "column", "regex", "format",
        "expires", "expiry", "count", "test", "dummy", "example", "fake", "mock", "encrypted", "hashed", "strength",
        "require", "required", "confirm", "your", "remember", "change", "retype", "repeat", "old", "if", "can",
        "should", "get", "set", "next", "continuation", "page",
    ]
}
