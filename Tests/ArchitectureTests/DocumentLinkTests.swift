// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("Links in documents")
struct DocumentLinkTests {
    @Test("Every relative link in a document leads to a file or folder of the repository")
    func links() throws {
        var checked = 0
        for document in try Self.documents() {
            let text = try String(contentsOf: document, encoding: .utf8)
            let folder = document.deletingLastPathComponent()
            for target in Self.targets(in: text) {
                checked += 1
                let path = folder.appending(path: target).standardizedFileURL.path
                #expect(
                    FileManager.default.fileExists(atPath: path), "\(document.lastPathComponent) links to \(target)")
            }
        }
        #expect(checked > 50)
    }

    @Test("Every anchor of a relative link is a heading of its page")
    func anchors() throws {
        var checked = 0
        for document in try Self.documents() {
            let text = Self.withoutCode(try String(contentsOf: document, encoding: .utf8))
            for link in text.matches(of: #/\]\(([^)\s#]*)#([^)\s]+)\)/#) where !link.1.contains("://") {
                let page =
                    link.1.isEmpty
                    ? document
                    : document.deletingLastPathComponent().appending(path: String(link.1)).standardizedFileURL
                guard page.pathExtension == "md" else { continue }
                checked += 1
                let anchors = Self.anchors(in: try String(contentsOf: page, encoding: .utf8))
                #expect(anchors.contains(String(link.2)), "\(document.lastPathComponent) links to \(link.0)")
            }
        }
        #expect(checked > 30)
    }

    @Test("The anchor of a heading has its words in lower case, without punctuation, joined by hyphens")
    func headings() {
        let text = "# A `b.swift`: [C](d.md), e\n```\n# no heading\n```\n## File-system's F"
        #expect(Self.anchors(in: text) == ["a-bswift-c-e", "file-systems-f"])
    }

    @Test("Links to other sites and inside the page are not files; a title and an anchor are no part of the path")
    func rule() {
        let text = "[a](b.md) [c](https://example.com) [d](#e) [f](g/h.swift#L1) `[i](j)` [k](l \"title\")"
        #expect(Self.targets(in: text) == ["b.md", "g/h.swift", "l"])
    }

    /// The paths of the relative links in a text; code is not a link.
    private static func targets(in text: String) -> [String] {
        withoutCode(text).matches(of: #/\]\(([^)\s#]+)[^)]*\)/#).map { String($0.1) }.filter { !$0.contains("://") }
    }

    private static func withoutCode(_ text: String) -> String {
        text.replacing(#/```.*?```/#.dotMatchesNewlines(), with: "").replacing(#/`[^`\n]*`/#, with: "")
    }

    /// The anchors of the headings of a page, as GitHub makes them.
    private static func anchors(in page: String) -> [String] {
        page.replacing(#/```.*?```/#.dotMatchesNewlines(), with: "").split(separator: "\n").compactMap { line in
            guard let heading = line.firstMatch(of: #/^#+ (.*)$/#)?.1 else { return nil }
            let words = String(heading).replacing(#/\[([^\]]*)\]\([^)]*\)/#) { $0.1 }.lowercased()
            return words.replacing(#/[^\w\- ]/#, with: "").replacing(" ", with: "-")
        }
    }

    private static func documents() throws -> [URL] {
        let root = Sources.root
        let names = try FileManager.default.contentsOfDirectory(atPath: root.path).filter { $0.hasSuffix(".md") }
        var found = names.map { root.appending(path: $0) }
        for folder in ["Documentation", "Examples", "Benchmarks"] {
            let files = FileManager.default.enumerator(atPath: root.appending(path: folder).path)
            while let name = files?.nextObject() as? String {
                if name.contains(".build") {
                    files?.skipDescendants()
                } else if name.hasSuffix(".md") {
                    found.append(root.appending(path: "\(folder)/\(name)"))
                }
            }
        }
        return found
    }
}
