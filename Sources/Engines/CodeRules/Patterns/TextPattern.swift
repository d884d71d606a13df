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
        case follows(String)
        /// The line begins with the text: nothing takes its result.
        case startsLine
    }

    let rule: CodeRule
    let languages: Set<CodeLanguage>
    /// One of these in the line, each with all its parts.
    let line: [[String]]
    var condition = Condition.none
    /// All of them are anywhere in the file.
    var file: [String] = []
    /// None of them is anywhere in the file.
    var unlessFile: [String] = []

    static func findings(in text: String, _ language: CodeLanguage) -> [CodeFinding] {
        let patterns = all.filter { pattern in
            pattern.languages.contains(language) && pattern.line.contains { $0.allSatisfy(text.utf8.has) }
                && pattern.file.allSatisfy(text.utf8.has) && !pattern.unlessFile.contains(where: text.utf8.has)
        }
        guard !patterns.isEmpty else { return [] }
        var findings: [CodeFinding] = []
        var previous = Substring()
        for (index, bytes) in text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
            let code = Substring(bytes.drop { $0 == 0x20 || $0 == 0x09 })
            defer { previous = code }
            guard !["//", "#", "*", "/*", "<!--"].contains(where: { code.utf8.starts(with: $0.utf8) }) else { continue }
            for pattern in patterns where pattern.matches(code, previous, language) {
                findings.append(
                    CodeFinding(rule: pattern.rule, line: index + 1, column: bytes.count - code.utf8.count + 1))
            }
        }
        return findings + changes(in: text, language)
    }

    private func matches(_ code: Substring, _ previous: Substring, _ language: CodeLanguage) -> Bool {
        guard let parts = line.first(where: { $0.allSatisfy(code.utf8.has) }) else { return false }
        switch condition {
        case .none: return true
        case .secretLiteral: return Self.literals(in: code).contains { SecretName($0.utf8)?.strength == .strong }
        case .passwordName:
            return code.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.contains {
                SecretName($0.utf8)?.isPassword == true
            }
        case .spelledText: return SpelledText.isSpelled(in: code)
        case .constantVector: return Self.hasConstantVector(code)
        case .follows(let text): return previous.utf8.has(text)
        case .jailbreakFile: return JailbreakFile.isNamed(in: String(code))
        case .startsLine:
            return parts.first.map { code.hasPrefix($0) } == true
                && !"=(,&|!?".contains(previous.last { $0 != " " } ?? ";")
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

    private static let changeCalls: [CodeLanguage: (deletes: String, adds: String, updates: String)] = [
        .objectiveC: ("SecItemDelete(", "SecItemAdd(", "SecItemUpdate(")
    ]

    /// A deletion, and within thirty lines of the same function an addition, without an update between them.
    private static func changes(in text: String, _ language: CodeLanguage) -> [CodeFinding] {
        guard let calls = changeCalls[language], text.contains(calls.deletes) else { return [] }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.indices.filter { lines[$0].contains(calls.deletes) }.compactMap { start in
            let rest = lines[start...].prefix(30).prefix { !$0.hasPrefix("}") }
            guard let add = rest.firstIndex(where: { $0.contains(calls.adds) }),
                !lines[start...add].contains(where: { $0.contains(calls.updates) })
            else { return nil }
            return CodeFinding(rule: .deleteThenAdd, line: start + 1, column: 1)
        }
    }
}

/// Files and addresses that only modified devices have.
enum JailbreakFile {
    private static let names = [
        "/Applications/Cydia.app", "cydia://", "/Library/MobileSubstrate", "/private/var/lib/apt", "/usr/sbin/sshd",
        "/bin/bash", "/etc/apt",
        "/private/var/stash", "/var/jb", "sileo://", "/system/app/Superuser.apk", "/system/xbin/su", "/sbin/su",
        "/system/bin/su",
        "/data/local/xbin/su", "com.topjohnwu.magisk", "/su/bin/su",
    ]

    static func isNamed(in code: String) -> Bool { names.contains { code.contains($0) } }
}

extension Collection<UInt8> {
    /// Whether the bytes contain a text.
    fileprivate func has(_ text: String) -> Bool {
        let wanted = Array(text.utf8)
        let found = withContiguousStorageIfAvailable { bytes in
            guard let first = wanted.first, bytes.count >= wanted.count else { return wanted.isEmpty }
            return (0...bytes.count - wanted.count).contains {
                bytes[$0] == first && bytes[$0..<$0 + wanted.count].elementsEqual(wanted)
            }
        }
        return found ?? Array(self).has(text)
    }
}
