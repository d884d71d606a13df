// SPDX-License-Identifier: Apache-2.0

/// The examples of a help text. They must run when they are copied.
public struct HelpExamples: Sendable {
    /// The lines after `EXAMPLES:`, up to an empty one.
    public let lines: [Substring]

    public init(_ help: String) {
        let all = help.split(separator: "\n", omittingEmptySubsequences: false)
        let start = all.firstIndex { $0.lowercased() == "examples:" } ?? all.endIndex
        lines = Array(all[start...].dropFirst().prefix { !$0.isEmpty })
    }

    /// The lines that neither begin with a program nor continue a line that ends with a backslash: the
    /// parser has wrapped them.
    public var broken: [Substring] {
        var isContinued = false
        return lines.filter { line in
            defer { isContinued = line.hasSuffix("\\") }
            return isContinued ? !line.hasPrefix("      ") : !Self.startsProgram(line)
        }
    }

    /// Whether the line begins with a program, after two or four spaces and variables.
    private static func startsProgram(_ line: Substring) -> Bool {
        let words = line.split(separator: " ").drop { $0.first?.isUppercase == true && $0.contains("=") }
        let indent = line.prefix { $0 == " " }.count
        return [2, 4].contains(indent) && words.first.map { programs.contains(String($0)) } == true
    }

    private static let programs: Set = [
        "latchkey", "security", "latchkeyd", "latchkey-secret-service", "latchkey-tls", "latchkey-lint",
        "fusermount3", "install", "openssl", "printf", "secret-tool", "systemctl",
    ]
}
