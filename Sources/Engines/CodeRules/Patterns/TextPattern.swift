// SPDX-License-Identifier: Apache-2.0

internal import SecretScan

/// A rule for languages that are not parsed: texts that a line must contain, and those that the file must contain or not.
struct TextPattern: Sendable {
    /// A further condition for the line.
    enum Condition: Sendable {
        case none
        /// A text in quotes that is the name of a secret.
        case secretLiteral
        /// A name of a variable for a password.
        case passwordName
        /// At least eight numbers that spell a text.
        case spelledText
        /// A variable for an initialization vector or a salt, and a constant.
        case constantVector
        /// The path of a program of jailbroken devices.
        case jailbreakFile
        /// The line before has the text.
        case follows(StaticString)
        /// The line begins with the text: nothing takes its result.
        case startsLine
    }

    let rule: CodeRule
    let languages: Set<CodeLanguage>
    /// One of these in the line, each with all its parts.
    let line: [[StaticString]]
    var condition = Condition.none
    /// All of them are anywhere in the file.
    var file: [StaticString] = []
    /// None of them is anywhere in the file.
    var unlessFile: [StaticString] = []

    static func findings(in code: CodeText, _ language: CodeLanguage) -> [CodeFinding] {
        let patterns = all.filter { $0.languages.contains(language) && $0.mayMatch(code) }
        guard !patterns.isEmpty else { return [] }
        var (findings, previous) = ([CodeFinding](), 0..<0)
        code.forEachLine { number, line, column in
            defer { previous = line }
            let candidates = patterns.filter { $0.mayMatch(code, line) }
            guard !candidates.isEmpty, !comments.contains(where: { code.begins(with: $0, in: line) }) else { return }
            let text = code.text(line)
            for pattern in candidates where pattern.matches(code, line, text, previous) {
                findings.append(CodeFinding(rule: pattern.rule, line: number, column: column))
            }
        }
        return findings + changes(in: code, language)
    }

    private static let comments: [StaticString] = ["//", "#", "*", "/*", "<!--"]

    private func mayMatch(_ code: CodeText) -> Bool {
        line.contains { $0.allSatisfy { code.has($0, in: code.all) } }
            && file.allSatisfy { code.has($0, in: code.all) } && !unlessFile.contains { code.has($0, in: code.all) }
    }

    /// A quick test: most lines end here.
    private func mayMatch(_ code: CodeText, _ range: Range<Int>) -> Bool {
        guard line.contains(where: { $0.allSatisfy { code.has($0, in: range) } }) else { return false }
        return switch condition {
        // Eight numbers have seven separators.
        case .spelledText: code.count(of: UInt8(ascii: ","), in: range) >= 7
        case .constantVector: ["iv", "IV", "nce", "NCE", "alt", "ALT"].contains { code.has($0, in: range) }
        default: true
        }
    }

    private func matches(_ code: CodeText, _ range: Range<Int>, _ text: Substring, _ previous: Range<Int>) -> Bool {
        switch condition {
        case .none: return true
        case .secretLiteral: return Self.literals(in: text).contains { SecretName($0.utf8)?.strength == .strong }
        case .passwordName:
            return text.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.contains {
                SecretName($0.utf8)?.isPassword == true
            }
        case .spelledText: return SpelledText.isSpelled(in: text)
        case .constantVector: return Self.hasConstantVector(text)
        case .follows(let expected): return code.has(expected, in: previous)
        case .jailbreakFile: return JailbreakFile.isNamed(in: code, range)
        case .startsLine:
            return line.contains { $0.first.map { code.begins(with: $0, in: range) } == true }
                && !"=(,&|!?".contains(code.text(previous).last { $0 != " " } ?? ";")
        }
    }

    // MARK: Conditions

    private static func literals(in code: Substring) -> [Substring] {
        code.split(separator: "\"", omittingEmptySubsequences: false).enumerated().filter {
            !$0.offset.isMultiple(of: 2)
        }.map(\.element)
            + code.split(separator: "'", omittingEmptySubsequences: false).enumerated().filter {
                !$0.offset.isMultiple(of: 2)
            }.map(\.element)
    }

    private static func hasConstantVector(_ code: Substring) -> Bool {
        guard let sign = code.utf8.firstIndex(of: UInt8(ascii: "=")), mayNameVector(code.utf8[..<sign]),
            code[sign...].dropFirst().first != "=",
            !code[..<sign].contains(where: { "\"'`".contains($0) }), !Self.declaresFunction(code)
        else { return false }
        let name = code[..<sign].split { !$0.isLetter && !$0.isNumber && $0 != "_" }.last ?? ""
        guard let word = SecretName.words(of: name.utf8).last, ["iv", "nonce", "salt"].contains(word) else {
            return false
        }
        let value = code[sign...].dropFirst().drop { $0 == " " }
        return !value.contains("andom") && isConstant(value, isSalt: word == "salt")
    }

    /// Whether the last letters before a sign are those of a name that is looked for: quick, for most lines.
    private static func mayNameVector(_ name: Substring.UTF8View) -> Bool {
        var end = name.endIndex
        while end > name.startIndex, " \t:".utf8.contains(name[name.index(before: end)]) {
            end = name.index(before: end)
        }
        let last = name[..<end].suffix(5).map { $0 | 0x20 }
        return ["iv", "nonce", "salt"].contains { last.suffix($0.utf8.count).elementsEqual($0.utf8) }
    }

    private static func declaresFunction(_ code: Substring) -> Bool {
        ["def ", "async def ", "function ", "func ", "fun "].contains { code.hasPrefix($0) }
    }

    private static func isConstant(_ value: Substring, isSalt: Bool) -> Bool {
        let quotes = ["\"", "'", "b\"", "b'", "@\"", "[]byte(\""]
        if let quote = quotes.first(where: { value.hasPrefix($0) }), let end = quote.last {
            let text = value.dropFirst(quote.count).prefix { $0 != end && $0 != "\"" }
            // A salt with dots is the name of a purpose; zero bytes are the default of HKDF.
            return !text.isEmpty && !(isSalt && (text.contains(".") || text == "\\x00"))
        }
        return value.hasPrefix("{") && value.contains("0")
            || ["new byte[", "bytes(1", "make([]byte", "ByteArray(", "Buffer.from(", "Buffer.alloc("].contains {
                value.hasPrefix($0)
            } || value.contains("\".getBytes(") || value.contains("\".toByteArray(")
    }

    // MARK: Deletions before additions

    /// A deletion, and within thirty lines of the same function an addition, without an update between them.
    private static func changes(in code: CodeText, _ language: CodeLanguage) -> [CodeFinding] {
        guard language == .objectiveC, code.has("SecItemDelete(", in: code.all) else { return [] }
        let lines = code.text(code.all).split(separator: "\n", omittingEmptySubsequences: false)
        return lines.indices.filter { lines[$0].contains("SecItemDelete(") }.compactMap { start in
            let rest = lines[start...].prefix(30).prefix { !$0.hasPrefix("}") }
            guard let add = rest.firstIndex(where: { $0.contains("SecItemAdd(") }),
                !lines[start...add].contains(where: { $0.contains("SecItemUpdate(") })
            else { return nil }
            return CodeFinding(rule: .deleteThenAdd, line: start + 1, column: 1)
        }
    }
}

/// Files and addresses that only modified devices have.
enum JailbreakFile {
    private static let names: [StaticString] = [
        "/Applications/Cydia.app", "cydia://", "/Library/MobileSubstrate", "/private/var/lib/apt", "/usr/sbin/sshd",
        "/bin/bash", "/etc/apt",
        "/private/var/stash", "/var/jb", "sileo://", "/system/app/Superuser.apk", "/system/xbin/su", "/sbin/su",
        "/system/bin/su",
        "/data/local/xbin/su", "com.topjohnwu.magisk", "/su/bin/su",
    ]

    static func isNamed(in code: CodeText, _ range: Range<Int>) -> Bool {
        names.contains { code.has($0, in: range) }
    }

    static func isNamed(in text: String) -> Bool {
        let code = CodeText(Array(text.utf8))
        return isNamed(in: code, code.all)
    }
}
