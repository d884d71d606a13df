// SPDX-License-Identifier: Apache-2.0

/// Finds the secrets in a text, in one pass for all rules.
struct TextScanner: Sendable {
    /// A secret in the text.
    struct Match {
        let kind: SecretKind
        let range: Range<Int>
        /// The name of the value; empty for secrets that are known by their form.
        var name: Range<Int> = 0..<0
        /// The text that has a meaning of its own: of a password in a URL, the URL.
        let whole: Range<Int>

        init(kind: SecretKind, range: Range<Int>, name: Range<Int> = 0..<0, whole: Range<Int>? = nil) {
            (self.kind, self.range, self.name, self.whole) = (kind, range, name, whole ?? range)
        }
    }

    /// The rule for the text at a literal.
    private enum Trigger {
        case token(TokenForm)
        case name, keyBlock, puttyKey, webToken, connection, authorization, program
    }

    static let shared = TextScanner()

    private let matcher: LiteralMatcher
    private let triggers: [Trigger]

    private init() {
        var literals: [(LiteralMatcher.Literal, Trigger)] = []
        func add(_ texts: String, _ trigger: Trigger, ignoresCase: Bool = true) {
            for text in texts.split(separator: "|") {
                literals.append((LiteralMatcher.Literal(bytes: Array(text.utf8), ignoresCase: ignoresCase), trigger))
            }
        }
        for form in TokenForm.all {
            literals.append((LiteralMatcher.Literal(bytes: form.literal, ignoresCase: false), .token(form)))
        }
        add(Self.nameParts, .name)
        add("-----BEGIN ", .keyBlock, ignoresCase: false)
        add("PuTTY-User-Key-File-", .puttyKey, ignoresCase: false)
        add("eyJh|eyJ0|eyJr|eyJj|eyJ6|eyJ4|eyJ1|eyJi|eyJl|eyJp|eyJq", .webToken, ignoresCase: false)
        add(Self.schemeEnds, .connection)
        add("basic |bearer ", .authorization)
        add("sshpass |mysql|curl ", .program, ignoresCase: false)
        matcher = LiteralMatcher(literals.map(\.0))
        triggers = literals.map(\.1)
    }

    /// Each name of a secret contains one of them.
    private static let nameParts = """
        pass|_pwd|-pwd|pwd=|pwd:|pwd"|pwd'|pwd<|.pwd|userpwd|secret|token|pikey|pi_key|pi-key|ss_key|ss-key|sskey|te_key|te-key|\
        tekey|et_key|et-key|etkey|on_key|on-key|onkey|ng_key|ngkey|ng-key|nt_key|ntkey|nt-key|er_key|erkey|re_key|rekey|\
        ge_key|gekey|ed_key|edkey|pp_key|ppkey|th_key|thkey|ce_key|cekey|se_key|sekey|oy_key|auth|credential|kennwort|senha|contrase|motdepasse|\
        rootpw|bindpw|_psk|psk=|keybase64|connectionstring|psk>
        """

    private static let schemeEnds = "abcdefghijklmnopqrstuvwxyz0123456789".map { "\($0)://" }.joined(separator: "|")

    /// Returns the secrets in the text, in the order of their positions. They do not overlap.
    ///
    /// - Parameters:
    ///   - fileName: of the file or the document.
    ///   - takeTime: called periodically; the rest of the text is left out if it returns false.
    func matches(
        in text: ScannedText, _ context: TextContext, fileName: String, takeTime: () -> Bool
    ) -> [Match] {
        var found: [Match] = []
        if let file = PasswordFile(name: fileName), let name = SecretName("password".utf8) {
            let check = ValueCheck(name: name, context: .configuration, isDelimited: true)
            found = file.passwords(in: text).filter { check.isSecret(text.part($0)) }.map {
                Match(kind: .passwordFile, range: $0)
            }
        }
        found += TokenForm.short.compactMap { form in
            form.matchAtStart(of: text).map { Match(kind: form.kind, range: $0) }
        }
        var (nameEnd, commandEnd, count, isOver) = (0, 0, 0, false)
        matcher.forEachMatch(in: text) { literal, position in
            count &+= 1
            if count & 0xFFF == 0, !isOver { isOver = !takeTime() }
            guard !isOver else { return }
            switch triggers[literal] {
            case .name:
                // Several parts are in one name.
                guard position >= nameEnd else { return }
                if let match = namedValue(in: text, at: position, context, end: &nameEnd) { found.append(match) }
            case .program:
                // A command is read once.
                guard position >= commandEnd else { return }
                commandEnd = CommandArgument.end(of: position, in: text)
                if let match = argument(CommandArgument(in: text, program: position), in: text, context) {
                    found.append(match)
                }
            case let trigger:
                if let match = match(trigger, in: text, at: position, context) { found.append(match) }
            }
        }
        return Self.withoutOverlaps(found)
    }

    private func match(_ trigger: Trigger, in text: ScannedText, at position: Int, _ context: TextContext) -> Match? {
        switch trigger {
        case .name, .program: nil
        case .token(let form): form.match(in: text, at: position).map { Match(kind: form.kind, range: $0) }
        case .keyBlock: PrivateKeyBlock(in: text, at: position).map { Match(kind: .privateKey, range: $0.range) }
        case .puttyKey: PrivateKeyBlock(puttyIn: text, at: position).map { Match(kind: .privateKey, range: $0.range) }
        case .webToken: WebToken(in: text, at: position).map { Match(kind: .webToken, range: $0.range) }
        case .connection: connection(in: text, at: position + 1, context)
        case .authorization:
            AuthorizationField(in: text, at: position, context: context).map {
                Match(kind: .authorization, range: $0.range)
            }
        }
    }

    // MARK: Rules that check a value

    private func namedValue(in text: ScannedText, at position: Int, _ context: TextContext, end: inout Int) -> Match? {
        guard let named = NamedValue(in: text, around: position) else {
            return option(in: text, at: position, context, end: &end)
        }
        end = named.name.upperBound
        // In code, a value without quotes is an expression: most occurrences end here.
        guard named.isDelimited || context != .source && context != .binary else { return nil }
        let value = text.part(named.value)
        // In text for people, most values are words.
        guard value.count >= 4, mayBeSecret(value, of: text.part(named.name), context),
            !ValueCheck.isReference(value, isDelimited: named.isDelimited),
            context != .document || !value.allSatisfy(ByteClass.letters.contains),
            let name = SecretName(text.part(named.name))
        else { return nil }
        // "PASS: name of a test", "the second pass: …"
        let isProse = context == .history || context == .document
        if text.has("PASS: ", at: named.name.lowerBound)
            || isProse && text.hasAnyCase("pass: ", at: named.name.lowerBound)
        {
            return nil
        }
        let check = ValueCheck(name: name, context: context, isDelimited: named.isDelimited)
        guard check.isSecret(value) else { return nil }
        return Match(kind: .namedValue, range: named.value, name: named.name)
    }

    /// A quick test for most values: where configuration is not expected, a value without a digit and without a sign is
    /// none, unless it is base64.
    private func mayBeSecret(_ value: ArraySlice<UInt8>, of name: ArraySlice<UInt8>, _ context: TextContext) -> Bool {
        switch context {
        case .configuration, .record, .history: true
        case .source, .document, .binary:
            !value.allSatisfy(Self.textCharacters.contains)
                || name.suffix(4).elementsEqual("auth".utf8) { $0.lowercased == $1 }
        }
    }

    /// The characters of words and names.
    private static let textCharacters = ByteClass.letters.union(" ._/:-")

    /// `--password value`
    private func option(in text: ScannedText, at position: Int, _ context: TextContext, end: inout Int) -> Match? {
        let range =
            text.start(
                of: .wordOrHyphen, to: position, limit: 64)..<text.end(of: .wordOrHyphen, from: position, limit: 64)
        end = range.upperBound
        guard context != .binary, SecretName(text.part(range))?.strength == .strong else { return nil }
        return argument(CommandArgument(in: text, option: range), in: text, context)
    }

    private func argument(_ argument: CommandArgument?, in text: ScannedText, _ context: TextContext) -> Match? {
        guard let argument, context != .binary, let name = SecretName("password".utf8) else { return nil }
        let check = ValueCheck(
            name: name, context: context == .document || context == .history ? context : .source, isDelimited: true)
        guard !text.part(argument.range).contains(UInt8(ascii: "\\")), check.isSecret(text.part(argument.range)) else {
            return nil
        }
        return Match(kind: .argument, range: argument.range)
    }

    private func connection(in text: ScannedText, at position: Int, _ context: TextContext) -> Match? {
        guard let url = ConnectionString(in: text, at: position), !url.isExample(in: text),
            !text.part(url.user).elementsEqual(text.part(url.password)), let name = SecretName("password".utf8)
        else { return nil }
        let isFree = context == .configuration || context == .history || context == .record
        let check = ValueCheck(name: name, context: isFree ? context : .source, isDelimited: true)
        return check.isSecret(text.part(url.password))
            ? Match(kind: .connection, range: url.password, whole: url.range(in: text)) : nil
    }

    // MARK: Overlaps

    /// Of matches that overlap, keeps the one of a known form, and else the first.
    private static func withoutOverlaps(_ matches: [Match]) -> [Match] {
        let ordered = matches.sorted {
            ($0.range.lowerBound, isGeneric($0) ? 1 : 0) < ($1.range.lowerBound, isGeneric($1) ? 1 : 0)
        }
        var kept: [Match] = []
        for match in ordered {
            guard let last = kept.last, last.range.upperBound > match.range.lowerBound else {
                kept.append(match)
                continue
            }
            if isGeneric(last), !isGeneric(match) {
                kept[kept.count - 1] = Match(kind: match.kind, range: match.range, name: last.name, whole: match.whole)
            }
        }
        return kept
    }

    private static func isGeneric(_ match: Match) -> Bool { match.kind == .namedValue || match.kind == .argument }
}
