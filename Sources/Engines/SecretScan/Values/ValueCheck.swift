// SPDX-License-Identifier: Apache-2.0

/// Whether a value that has a secret's name is a secret, or a placeholder, a reference or code.
struct ValueCheck {
    let name: SecretName
    /// In code and in binary files, values must be delimited.
    let context: TextContext
    /// Whether quotes or a structure mark where the value begins and ends.
    let isDelimited: Bool

    func isSecret(_ value: ArraySlice<UInt8>) -> Bool {
        guard (name.isPassword ? 4 : 8)...4096 ~= value.count else { return false }
        guard value.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }), isDelimited || !value.contains(UInt8(ascii: "\\")) else {
            return false
        }
        guard !Self.isReference(value, isDelimited: isDelimited), !Filler.isFiller(value) else { return false }
        let shape = ValueShape(value)
        let isSecret =
            switch name.strength {
            case .encoded: AuthorizationField.hasPassword(value)
            case .weak: shape.looksRandom && !shape.isIdentifier
            case .strong: isLikely(shape)
            }
        return isSecret && !isProse(value, shape) && !isPlaceholder(String(decoding: value, as: UTF8.self))
    }

    /// How much a value must look like a secret depends on how often its context has others.
    private func isLikely(_ shape: ValueShape) -> Bool {
        switch context {
        case .configuration, .record, .history:
            return name.isPassword ? !shape.isCodeName && !shape.isLabel : shape.isMixed
        case .source: return name.isPassword ? shape.isMixed : shape.looksRandom || shape.looksChosen
        case .document where !shape.isASCII: return false
        case .document:
            return name.isPassword ? shape.isMixed && shape.count >= 8 : shape.looksRandom || shape.looksChosen
        case .binary: return shape.isASCII && (name.isPassword ? shape.looksChosen : shape.looksRandom)
        }
    }

    /// Whether the value is taken from elsewhere: a variable, a file, a call, a reference to a store of secrets.
    static func isReference(_ value: ArraySlice<UInt8>, isDelimited: Bool) -> Bool {
        // A password may begin with them too, but they are references almost always.
        if let first = value.first {
            if referenceStarts.contains(first) { return true }
            if !isDelimited, first == UInt8(ascii: "!"), value.allSatisfy(tagCharacters.contains) { return true }
            if !isDelimited, first == UInt8(ascii: "*"), value.dropFirst().allSatisfy(ByteClass.wordOrHyphen.contains) {
                return true
            }
        }
        if schemes.contains(where: { value.starts(with: $0) }) { return true }
        let isInserted = zip(value, value.dropFirst()).contains { first, second in
            insertionStarts.contains(first) && insertions.contains([first, second])
        }
        if isInserted || !isDelimited && value.contains(where: ByteClass("([").contains) { return true }
        return isPath(value) || hashes.contains { value.starts(with: $0) }
    }

    private static let referenceStarts = ByteClass("$<{@&%[(")
    private static let schemes = [
        "--", "latchkey://", "vault:", "op://", "arn:", "env:", "file:", "ref+", "secret://", "keyring:", "process.env",
        "os.env",
        "ENV[", "System.getenv", "http://", "https://", "urn:", "data:", "sha256:", "sha512:",
    ].map { Array($0.utf8) }

    /// Those of YAML's tags, such as `!vault` and `!Ref`.
    private static let tagCharacters = ByteClass.letters.union("!.")
    private static let insertionStarts = ByteClass("${%#\\")
    private static let insertions = Set(["${", "{{", "$(", "%(", "#{", "\\u"].map { Array($0.utf8) })

    private static func isPath(_ value: ArraySlice<UInt8>) -> Bool {
        value.first == UInt8(ascii: "/") && value.dropFirst().contains(UInt8(ascii: "/"))
            || pathStarts.contains { value.starts(with: $0) }
    }

    private static let pathStarts = ["./", "../", "~/", "C:\\"].map { Array($0.utf8) }

    /// The beginnings of salted hashes of passwords: they are no passwords.
    private static let hashes = [
        "$1$", "$2a$", "$2b$", "$2y$", "$5$", "$6$", "$7$", "$y$", "$argon2", "$apr1$", "{SSHA}", "{SHA}", "pbkdf2",
        "scrypt:", "SCRAM-SHA",
    ].map { Array($0.utf8) }

    private func isPlaceholder(_ text: String) -> Bool {
        let lowercase = text.lowercased()
        if Self.published.contains(text) { return true }
        let letters = String(
            lowercase.unicodeScalars.map { Self.letter(for: $0) }.filter { ("a"..."z").contains($0) }.map(
                Character.init))
        let plainLetters = lowercase.filter { ("a"..."z").contains($0) }
        if [lowercase, letters, plainLetters].contains(where: Self.placeholders.contains) { return true }
        if lowercase.hasPrefix("your") || lowercase.hasPrefix("my_") || lowercase.hasPrefix("my-") { return true }
        // The value names itself: password = "db_password".
        return name.strength == .strong && Self.selfNames.contains(letters)
    }

    /// The letter that a digit or a sign often stands for: `p4ssw0rd`.
    private static func letter(for scalar: Unicode.Scalar) -> Unicode.Scalar {
        switch scalar {
        case "0": "o"
        case "1", "!": "i"
        case "3": "e"
        case "4", "@": "a"
        case "5", "$": "s"
        default: scalar
        }
    }

    /// Examples of RFC 6749, of AWS and of the OAuth libraries' documentation.
    private static let published: Set<String> = [
        "2YotnFZFEjr1zCsicMWpAA", "tGzv3JOkF0XG5Qx2TlKWIA", "czZCaGRSa3F0MzpnWDFmQmF0M2JW", "SplxlOBeZQQYbYS6WxSbIA",
        "7Fjfp0ZBr1KtDRbnfVdmIw", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "geheim$parole",
    ]

    static func isPublished(_ value: ArraySlice<UInt8>) -> Bool {
        published.contains(String(decoding: value, as: UTF8.self))
    }

    private static let placeholders: Set<String> = [
        "", "none", "null", "nil", "true", "false", "yes", "undefined", "empty", "todo", "tbd", "default", "secret",
        "password", "passwd", "passphrase", "pass", "token", "key", "apikey", "string", "optional", "required", "value",
        "foobar", "foo", "bar", "test", "testing", "testpassword", "user", "username", "admin", "changeit", "change",
        "hidden", "masked", "mysecret", "mypassword", "mypass", "mytoken", "thepassword", "newpassword", "oldpassword",
        "unset", "unknown", "anonymous", "guest", "hunter", "na", "disabled", "enabled", "ask", "prompt", "system",
        "plain", "text", "number", "hex",
        "base", "json", "basic", "bearer", "auto", "interactive", "query", "never", "always", "require", "requisite",
        "sufficient", "include", "files", "compat", "nis", "ldap", "sss", "systemd", "db", "winbind", "pwd",
        "secretkey", "accesskey", "abc", "qwerty", "letmein", "object", "function",
    ]
    private static let selfNames: Set<String> = [
        "dbpassword", "databasepassword", "userpassword", "adminpassword", "rootpassword", "clientsecret", "authtoken",
        "accesstoken", "apitoken", "secretaccesskey", "awssecretaccesskey", "currentpassword", "confirmpassword",
        "passwordconfirmation", "repeatpassword", "sharedsecret", "privatekey", "refreshtoken", "encryptionkey",
    ]

    /// Whether the value is a sentence, a translated text or markup.
    private func isProse(_ value: ArraySlice<UInt8>, _ shape: ValueShape) -> Bool {
        let spaces = value.count { $0 == 0x20 }
        if value.contains(UInt8(ascii: "<")) && value.contains(UInt8(ascii: ">")) { return true }
        if value.last == UInt8(ascii: ":") || value.suffix(3).elementsEqual("...".utf8) { return true }
        guard spaces > 0 else { return false }
        // A passphrase has several words, and stands in configuration only.
        return
            !(name.isPassword && isDelimited && (context == .configuration || context == .record) && shape.isPassphrase)
    }
}

/// The characters of a value.
struct ValueShape {
    let count: Int
    private let digits: Int
    private let letters: Int
    private let spaces: Int
    /// Characters of paths and names: `.`, `_`, `/` and `:`.
    private let separators: Int
    private let hyphens: Int
    private let transitions: Int
    private let distinct: Int
    private let isHexadecimal: Bool
    private let hasBothCases: Bool
    private let isUUID: Bool
    private let points: Int
    private let isCapitalized: Bool
    /// Groups of digits between separators, such as `lib-1.2.3` and `2024-01-31`.
    private let isVersioned: Bool
    let isASCII: Bool

    init(_ value: some Collection<UInt8>) {
        count = value.count
        digits = value.count(where: ByteClass.digits.contains)
        letters = value.count(where: ByteClass.letters.contains)
        spaces = value.count { $0 == 0x20 }
        separators = value.count(where: Self.separating.contains)
        hyphens = value.count { $0 == UInt8(ascii: "-") }
        distinct = Set(value).count
        let uppercase = value.count(where: ByteClass.uppercase.contains)
        hasBothCases = uppercase > 2 && letters - uppercase > 2
        isVersioned =
            zip(value, value.dropFirst()).count { ByteClass.digits.contains($0) && ByteClass(".-:/").contains($1) } > 0
        let bytes = Array(value)
        points = bytes.count { $0 == UInt8(ascii: ".") }
        isUUID = bytes.count == 36 && [8, 13, 18, 23].allSatisfy { bytes[$0] == UInt8(ascii: "-") }
        isCapitalized =
            bytes.first.map(ByteClass.uppercase.contains) == true
            && bytes.dropFirst().allSatisfy(ByteClass.lowercase.contains)
        isASCII = value.allSatisfy { $0 < 0x80 }
        isHexadecimal = value.allSatisfy(ByteClass.hexadecimal.contains)
        let kinds = value.map { byte -> Int in
            if ByteClass.digits.contains(byte) { return 0 }
            return ByteClass.uppercase.contains(byte) ? 1 : ByteClass.lowercase.contains(byte) ? 2 : 3
        }
        transitions = zip(kinds, kinds.dropFirst()).count { $0 != $1 }
    }

    private static let separating = ByteClass("._/:")

    private var symbols: Int { count - digits - letters - spaces - separators }

    /// Digits or symbols, and mostly letters and digits.
    var isMixed: Bool { digits + symbols - hyphens > 0 && letters + digits > 2 && symbols * 2 <= count }

    /// Digits and letters change often, as in the output of a random generator.
    var looksRandom: Bool {
        guard count >= 12, spaces == 0, (symbols + separators) * 4 <= count, distinct * 3 >= min(count, 32) else {
            return false
        }
        if isHexadecimal { return count >= 16 && digits > 1 && letters > 0 && distinct >= 8 }
        return (digits > 1 && letters > 0 || digits > 0 && hasBothCases) && transitions * 4 >= count
    }

    /// A word with several digits, as people choose passwords: `granite-xkwpqa747`.
    var looksChosen: Bool {
        isMixed && count >= 10 && spaces == 0 && digits > 1 && letters > 3 && isASCII && !isVersioned
    }

    /// A UUID, or names that are joined by points.
    var isIdentifier: Bool { isUUID || points > 0 }

    /// A word as it stands on a screen: of letters that are not ASCII, or with a capital letter at the beginning.
    var isLabel: Bool { isCapitalized || !isASCII && digits == 0 }

    /// A name of a variable, a method or a translated text: `user.password.new`.
    var isCodeName: Bool { letters > 0 && separators > 0 && letters + separators == count }

    /// One word without anything else.
    var isWord: Bool { letters == count }

    /// Several words.
    var isPassphrase: Bool { spaces >= 3 && spaces * 3 <= count && 16...120 ~= count && letters + spaces == count }
}
