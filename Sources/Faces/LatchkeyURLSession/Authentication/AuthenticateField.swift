// SPDX-License-Identifier: Apache-2.0

/// One challenge of a field `WWW-Authenticate` (RFC 9110, section 11.6.1).
struct AuthenticateChallenge: Hashable, Sendable {
    /// In lower case.
    let scheme: String
    /// By names in lower case, the values without quotes.
    let parameters: [String: String]

    var realm: String? { parameters["realm"] }
}

/// Reads the challenges of a response. A text that is not a challenge ends the reading; the challenges before it count.
struct AuthenticateField {
    /// Of all fields together, and of one challenge.
    private static let (maxLength, maxChallenges, maxParameters) = (16 << 10, 16, 32)

    private var rest: Substring

    static func challenges(_ values: [String]) -> [AuthenticateChallenge] {
        var (challenges, length): ([AuthenticateChallenge], Int) = ([], 0)
        for value in values {
            length += value.utf8.count
            guard length <= maxLength else { return challenges }
            var field = AuthenticateField(rest: value[...])
            while challenges.count < maxChallenges, let challenge = field.next() { challenges.append(challenge) }
        }
        return challenges
    }

    private mutating func next() -> AuthenticateChallenge? {
        skipSeparators()
        guard let scheme = token() else { return nil }
        guard rest.first == " " || rest.isEmpty || rest.first == "," else { return nil }
        var parameters: [String: String] = [:]
        while parameters.count < Self.maxParameters {
            let start = rest
            skipSeparators()
            guard let (name, value) = parameter() else {
                rest = start
                break
            }
            // Of two values, the first counts.
            if parameters[name] == nil { parameters[name] = value }
        }
        return AuthenticateChallenge(scheme: scheme.lowercased(), parameters: parameters)
    }

    /// Reads `name=value`; returns nil if another challenge follows.
    private mutating func parameter() -> (String, String)? {
        guard let name = token() else { return nil }
        skipBlanks()
        guard rest.first == "=" else { return nil }
        rest.removeFirst()
        skipBlanks()
        guard let value = rest.first == "\"" ? quoted() : token() else { return nil }
        return (name.lowercased(), value)
    }

    private mutating func quoted() -> String? {
        rest.removeFirst()
        var text = ""
        while let character = rest.popFirst() {
            if character == "\"" { return text }
            guard character == "\\" else {
                text.append(character)
                continue
            }
            guard let escaped = rest.popFirst() else { return nil }
            text.append(escaped)
        }
        return nil
    }

    private mutating func token() -> String? {
        let token = rest.prefix { character in
            character.isASCII && (character.isLetter || character.isNumber || "!#$%&'*+-.^_`|~".contains(character))
        }
        rest = rest.dropFirst(token.count)
        return token.isEmpty ? nil : String(token)
    }

    private mutating func skipBlanks() { rest = rest.drop { $0 == " " || $0 == "\t" } }
    private mutating func skipSeparators() { rest = rest.drop { $0 == " " || $0 == "\t" || $0 == "," } }
}
