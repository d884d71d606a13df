// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Compares the output of a recipe's commands with its rows.
struct RecipeOutput {
    /// The paths of keychains that this run has printed, by the name in `<path NAME>`.
    private var paths: [String: String] = [:]

    /// Returns whether these are the expected lines. Placeholders are those of `Recipes/README.md`.
    mutating func matches(_ found: [String], _ expected: [String]) -> Bool {
        guard found.count == expected.count else { return false }
        for (found, expected) in zip(found, expected) where !matches(found, expected) { return false }
        return true
    }

    private mutating func matches(_ found: String, _ expected: String) -> Bool {
        var pattern = ""
        var names: [String] = []
        var rest = expected[...]
        while let placeholder = rest.firstMatch(of: /<(?:(hex40|date|number|blank|text)|path ([A-Za-z0-9_\-]+))>/) {
            pattern += NSRegularExpression.escapedPattern(for: String(rest[..<placeholder.range.lowerBound]))
            pattern += placeholder.1.flatMap { Self.patterns[String($0)] } ?? #"(/[^"]*)"#
            if let name = placeholder.2 { names.append(String(name)) }
            rest = rest[placeholder.range.upperBound...]
        }
        pattern += NSRegularExpression.escapedPattern(for: String(rest))
        guard let regex = try? NSRegularExpression(pattern: "\\A\(pattern)\\z"),
            let match = regex.firstMatch(in: found, range: NSRange(found.startIndex..., in: found))
        else { return false }
        for (index, name) in names.enumerated() {
            guard let range = Range(match.range(at: index + 1), in: found) else { return false }
            guard record(String(found[range]), of: name) else { return false }
        }
        return true
    }

    /// Returns whether this can be the path of the keychain, and is the one of earlier lines.
    private mutating func record(_ path: String, of name: String) -> Bool {
        let fileNames = ["", "-db", ".keychain", ".keychain-db"].map { name + $0 }
        let isNamed = path.split(separator: "/").contains { fileNames.contains(String($0)) }
        guard name == "login" || isNamed, paths[name, default: path] == path,
            !paths.contains(where: { $0.key != name && $0.value == path })
        else { return false }
        paths[name] = path
        return true
    }

    private static let patterns = [
        "hex40": "[0-9A-F]{40}",
        "date": #"0x[0-9A-F]{32}  "[0-9]{14}Z\\000""#,
        "number": "[0-9]+",
        "blank": " ",
        "text": ".*",
    ]
}

// MARK: Lines of a stream

extension RecipeOutput {
    static func lines(_ text: String) -> [String] {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        if lines.last == "" { lines.removeLast() }
        return lines
    }

    /// Returns the lines of standard error without those that only Latchkey prints.
    static func errorLines(_ text: String) -> [String] {
        lines(text).filter { line in !prefixes.contains { line.hasPrefix($0) } && !notes.contains(line) }
    }

    private static let prefixes = [
        "hint: ", "latchkey: ", "security: note: ", "security: warning: ", "security: applied: ",
    ]

    /// Notes without a prefix of their own: `CommandSession.warn` writes them.
    private static let notes: Set<String> = [
        "security: a passcode on the command line is visible to every process"
    ]
}
