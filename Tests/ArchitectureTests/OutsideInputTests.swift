// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Input from outside is parsed into validated types where it is read. In the code that reads it,
/// every expression that can trap on a wrong number is listed in Tests/Vectors/outside-input.txt
/// with a reason.
@Suite("Input from outside")
struct OutsideInputTests {
    /// The code that reads input from outside: paths below Sources.
    static let scope = [
        "Service/LatchkeyService/Callers/", "Service/LatchkeyService/Audit/AuditLine",
        "Service/LatchkeyService/Audit/AuditFile",
        "Service/LatchkeyProtocol/", "Service/LatchkeyOperations/", "Service/LatchkeyServer/", "Service/LoginSession/",
        "Service/LatchkeyClient/Daemon/",
        "Service/LatchkeyClient/PasscodeFile",
        "Foundations/LinuxSystem/", "Foundations/SecurityKey/", "Foundations/SystemBus/",
        "Engines/KeychainStore/Backup/",
        "Engines/KeychainStore/Rows/RecordCoding",
        "Engines/KeychainStore/Rows/Padding", "Engines/KeychainStore/Rows/RowSeal", "Engines/Keybag/KeybagCoding",
        "Engines/Keybag/KeybagRecord",
        "Engines/Keybag/AttemptRecord", "Engines/Keybag/RecoveryKey", "Engines/Presence/", "Engines/Fingerprint/",
        "Engines/EnrolledPrints/", "Engines/TransportPolicy/", "Engines/CryptographicMessages/",
        "Engines/GnomeKeyringFile/", "Engines/SecretScan/", "Foundations/Decompression/", "Engines/SecretTransfer/",
        "Engines/SecretServiceClient/",
        "Faces/SecretService/", "Faces/LatchkeyCommands/LatchkeyTool/Keyrings/",
    ]

    /// Expressions that can trap on a wrong number, as regular expressions.
    static let traps = [
        // A slice by a range.
        #"[\w)\]?]\[[^\[\]"]*(?:\.\.<|\.\.\.)[^\[\]"]*\]"#,
        // A count that is neither a literal nor the count of a collection.
        #"\.(?:prefix|suffix|dropFirst|dropLast|removeFirst|removeLast)\((?!\))(?![\d_]+\))(?!(?:[\w.]+|"[^"]*")\.count\))(?!while:)[^{}]*?\)"#,
        // An index of another collection.
        #"\.(?:prefix|suffix)\((?:through|upTo|from):"#,
        // A removal that requires an element.
        #"\.(?:removeFirst|removeLast)\(\)"#,
        // An index.
        #"[\w)\]]\[(?:\d+|position|index|offset|start|end|count|[a-z]\w* [-+] [^\]]+)\]"#,
        // A conversion to fewer bits.
        #"(?<![\w.])(?:U?Int8|U?Int16|Int32)\((?!exactly:|clamping:|truncatingIfNeeded:|bitPattern:|littleEndian:|bigEndian:|bigEndianBytes:|ascii:|[A-Z]{2}|[\d_]+\)|validating)[^(]"#,
        // A product.
        #"[\w)\]] \* [\w(]"#,
        // A difference of clock values. They are unsigned, and may come from another thread.
        #"\bnow(?:\(\))? - \w"#,
        // A date as an integer, although it may be out of range.
        #"(?<![\w.])U?Int(?:64)?\((?!exactly:|clamping:|truncatingIfNeeded:|bitPattern:)[^)]*(?:[tT]ime|seconds|[dD]ate|Double)\b"#,
    ]

    @Test(
        "Code that reads input from outside traps on no number, except in the lines that are listed with a reason; every listed line exists"
    )
    func listed() throws {
        let list = try Self.list()
        #expect(list.values.allSatisfy { !$0.reason.isEmpty && !$0.lines.isEmpty })
        var seen: Set<String> = []
        for file in try Sources.all() where Self.scope.contains(where: file.path.hasPrefix) {
            seen.insert(file.path)
            let (used, known) = (try Self.uses(in: file.text), list[file.path]?.lines ?? [])
            for line in used where !known.contains(line) {
                Issue.record(
                    "\(file.path) can trap here; parse the input into a validated type, or add the line and a reason to the list: \(line)"
                )
            }
            for line in known where !used.contains(line) {
                Issue.record("\(file.path) is listed with a line that does not exist: \(line)")
            }
        }
        #expect(Set(list.keys).subtracting(seen) == [], "listed files that do not exist, or that no scope covers")
        for scope in Self.scope { #expect(seen.contains { $0.hasPrefix(scope) }, "no file at \(scope)") }
    }

    @Test(
        "The rule finds expressions that can trap",
        arguments: [
            "text[start..<end]", "text[...end]", "list.prefix(limit)", "text.prefix(through: text.index(before: end))",
            "rest.removeFirst()",
            "fields[20]", "bytes[position]", "bytes[count - 1]", "UInt8(number)", "Int32(count) + 1", "width * height",
            "now - last",
            "Int64(date * 1000)",
            "rest.dropFirst(length)",
        ])
    func finds(_ line: String) throws {
        #expect(try Self.uses(in: line) == [line])
    }

    @Test(
        "The rule ignores expressions that cannot trap",
        arguments: [
            "text.prefix { $0 != end }", "text.dropFirst(3)", "text.dropFirst(prefix.count)",
            "text.dropFirst(\"name=\".count)",
            "text.dropLast()",
            "names[user]", "UInt8(clamping: number)", "UInt8(exactly: number)", "UInt8(ascii: \"-\")",
            "// bytes[position]",
            "[UInt8](repeating: 0, count: 4)", "counts.reduce(0, +)", "now &- last", "Int64(exactly: seconds)",
        ])
    func leaves(_ line: String) throws {
        #expect(try Self.uses(in: line) == [])
    }

    /// Returns the lines of code that have one of the traps, trimmed and without comments.
    private static func uses(in text: String) throws -> [String] {
        let expressions = try traps.map { try NSRegularExpression(pattern: $0) }
        return text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter {
            !$0.hasPrefix("//")
        }
        .map { $0.components(separatedBy: " //").first?.trimmingCharacters(in: .whitespaces) ?? "" }
        .filter { line in
            expressions.contains { $0.firstMatch(in: line, range: NSRange(line.startIndex..., in: line)) != nil }
        }
    }

    /// Returns the list: the reason and the lines of each file.
    private static func list() throws -> [String: (reason: String, lines: [String])] {
        let text = try String(
            contentsOf: Sources.root.appending(path: "Tests/Vectors/outside-input.txt"), encoding: .utf8)
        var list: [String: (reason: String, lines: [String])] = [:]
        for block in text.components(separatedBy: "\n\n") where block.hasPrefix("# ") {
            let lines = block.split(separator: "\n").map(String.init)
            let head = (lines.first ?? "").dropFirst(2).split(separator: ":", maxSplits: 1).map {
                $0.trimmingCharacters(in: .whitespaces)
            }
            list[head.first ?? ""] = (head.count > 1 ? head[1] : "", Array(lines.dropFirst()))
        }
        return list
    }
}
