// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Every annotation that the compiler does not check, and every precondition failure, has a reason
/// beside it.
@Suite("Reasons")
struct ReasonTests {
    static let spellings = ["@unchecked Sendable", "nonisolated(unsafe)", "unsafeBitCast", "preconditionFailure"]

    @Test(
        "An annotation that the compiler does not check has a reason, in its line or in the comment directly above",
        arguments: spellings)
    func reasons(_ spelling: String) throws {
        for file in try Sources.all() {
            let lines = Self.unexplained(spelling, in: file.text)
            #expect(lines.isEmpty, "\(file.path) uses \(spelling) without \"because\" in lines \(lines)")
        }
    }

    @Test(
        "A reason elsewhere in the file, or a comment without a reason, does not count",
        arguments: [
            ("// because\n\nlet a = unsafeBitCast(b, to: C.self)", [3]),
            ("/// A promise.\nlet a = unsafeBitCast(b, to: C.self)", [2]),
            ("// because it is so\nlet a = unsafeBitCast(b, to: C.self)", []),
            ("let a = unsafeBitCast(b, to: C.self)  // because", []),
            ("/// One, because\n/// two.\n@inlinable\nlet a = unsafeBitCast(b, to: C.self)", []),
            ("// unsafeBitCast", []),
            ("// because\nlet b = 1\nlet a = unsafeBitCast(b, to: C.self)", [3]),
        ])
    func guardItself(_ text: String, _ lines: [Int]) {
        #expect(Self.unexplained("unsafeBitCast", in: text) == lines)
    }

    @Test("One reason for a table of constants covers only its constants")
    func tables() {
        let head = "// \(Self.reasonOfConstants) because they never change.\n\n"
        let constant = "nonisolated(unsafe) public let kSecA: CFString = \"a\"\n"
        let variable = "nonisolated(unsafe) public var state = 1\n"
        #expect(Self.unexplained("nonisolated(unsafe)", in: head + constant) == [])
        #expect(Self.unexplained("nonisolated(unsafe)", in: constant) == [1])
        #expect(Self.unexplained("nonisolated(unsafe)", in: head + variable) == [3])
    }

    private static let reasonOfConstants = "Every `nonisolated(unsafe)` in this file stands for one reason:"

    /// Returns the lines, counted from 1, that use the spelling without a reason.
    private static func unexplained(_ spelling: String, in text: String) -> [Int] {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map {
            $0.trimmingCharacters(in: .whitespaces)
        }
        let coversConstants = text.contains("// \(reasonOfConstants)") && text.contains("because")
        return lines.indices.filter { index in
            let line = lines[index]
            guard line.contains(spelling), !line.hasPrefix("//"), !line.contains("because") else { return false }
            if coversConstants, line.hasPrefix("nonisolated(unsafe) public let k") { return false }
            let above = lines[..<index].reversed().drop { $0.hasPrefix("@") }.prefix { $0.hasPrefix("//") }
            return !above.contains { $0.contains("because") }
        }.map { $0 + 1 }
    }
}
