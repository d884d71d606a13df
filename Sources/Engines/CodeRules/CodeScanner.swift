// SPDX-License-Identifier: Apache-2.0

/// A place in code that a rule names.
public struct CodeFinding: Hashable, Sendable {
    public let rule: CodeRule
    /// From 1.
    public let line: Int
    /// From 1, in bytes of UTF-8.
    public let column: Int

    public init(rule: CodeRule, line: Int, column: Int) { (self.rule, self.line, self.column) = (rule, line, column) }
}

extension CodeRule {
    /// The languages that it checks.
    public var languages: Set<CodeLanguage> {
        let patterns = TextPattern.all.filter { $0.rule == self }.flatMap(\.languages)
        // Swift is parsed, and the deletions before additions are found by their order.
        let others: [CodeLanguage] =
            self == .arbitraryLoads ? [] : self == .deleteThenAdd ? [.swift, .objectiveC] : [.swift]
        return Set(patterns + others)
    }
}

/// Code that was not checked, or a comment that suppresses nothing.
public struct CodeProblem: Error, Hashable {
    /// From 1; nil for the whole file.
    public let line: Int?
    /// A sentence without the place.
    public let reason: String

    public init(line: Int?, reason: String) { (self.line, self.reason) = (line, reason) }
}

/// Checks code by the rules of ``CodeRule``. Swift is parsed; other languages are searched for patterns, line by line.
public enum CodeScanner {
    public struct Report: Sendable {
        /// In the order of their places.
        public var findings: [CodeFinding] = []
        public var problems: [CodeProblem] = []
    }

    /// The maximum number of bytes of a file that is checked.
    public static let maxLength = 1 << 20

    /// Whether a file with this name is code in one of the languages.
    public static func reads(_ name: String) -> Bool { CodeLanguage(fileName: name) != nil }

    /// - Parameters:
    ///   - bytes: the file. Bytes that are not UTF-8 are replaced.
    ///   - name: of the file; its ending tells the language.
    ///   - swift: finds the code that the rules name, in Swift. For code of strangers it must call ``parseSwift(_:)`` in a process
    ///     that may end.
    /// - Returns: nothing for a file of another language; a problem for one that is too long.
    public static func scan(
        _ bytes: [UInt8], name: String, swift: (String) throws(CodeProblem) -> [CodeFinding] = parseSwift
    ) -> Report {
        guard let language = CodeLanguage(fileName: name) else { return Report() }
        do throws(CodeProblem) {
            guard bytes.count <= maxLength else {
                throw CodeProblem(line: nil, reason: "its code has more than \(maxLength) bytes")
            }
            let code = CodeText(bytes)
            let found =
                language == .swift
                ? try swift(String(decoding: bytes, as: UTF8.self)) : TextPattern.findings(in: code, language)
            let suppressions = Suppressions(code)
            return Report(
                findings: Set(found).filter { !suppressions.cover($0) }.sorted {
                    ($0.line, $0.column, $0.rule.id) < ($1.line, $1.column, $1.rule.id)
                },
                problems: suppressions.problems)
        } catch {
            return Report(problems: [error])
        }
    }

    /// Parses Swift in this process.
    ///
    /// Some code of a few bytes costs exponential time, and some recurses without a limit: then the function does not
    /// return, or the process ends.
    public static func parseSwift(_ code: String) throws(CodeProblem) -> [CodeFinding] {
        try SwiftRules.findings(in: code)
    }
}

/// Comments `latchkey-lint: allow C03 REASON`, for their own line and for the next one.
private struct Suppressions {
    private var rules: [Int: Set<String>] = [:]
    private(set) var problems: [CodeProblem] = []

    private static let mark: StaticString = "latchkey-lint: allow "

    init(_ code: CodeText) {
        guard code.has(Self.mark, in: code.all) else { return }
        let lines = code.text(code.all).split(separator: "\n", omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            guard let mark = line.firstRange(of: Self.mark.description), Self.isComment(line[..<mark.lowerBound]) else {
                continue
            }
            let words = line[mark.upperBound...].split(separator: " ")
            guard let id = words.first, CodeRule(id: String(id)) != nil else {
                problems.append(CodeProblem(line: index + 1, reason: "the comment that allows a finding names no rule"))
                continue
            }
            // The end of a block comment is no reason.
            guard words.dropFirst().contains(where: { $0.contains(where: \.isLetter) }) else {
                problems.append(
                    CodeProblem(line: index + 1, reason: "the comment that allows a finding has no reason behind \(id)")
                )
                continue
            }
            rules[index + 1, default: []].insert(String(id))
        }
    }

    /// Whether a comment begins right before the mark, outside of quotes.
    private static func isComment(_ text: Substring) -> Bool {
        var code = text
        while code.last == " " { code.removeLast() }
        guard let start = ["//", "/*", "#", "<!--", "*"].first(where: { code.hasSuffix($0) }) else { return false }
        return ["\"", "'", "`"].allSatisfy { quote in
            code.dropLast(start.count).count { String($0) == quote }.isMultiple(of: 2)
        }
    }

    func cover(_ finding: CodeFinding) -> Bool {
        [finding.line, finding.line - 1].contains { rules[$0]?.contains(finding.rule.id) == true }
    }
}
