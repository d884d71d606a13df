// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The ways to start in README.md and Install.md. `Scripts/check/first-minutes` runs and times their commands.
@Suite("First screen")
struct FirstScreenTests {
    @Test(
        "Each way to start has at most five commands",
        arguments: ["download", "tarball", "debian", "container", "package", "sdk"])
    func commands(_ way: String) throws {
        let readme = try Self.pages()
        let block = try #require(Self.block(way, in: readme), "no code block after <!-- way: \(way) -->")
        let commands = Self.commands(in: block)
        #expect((1...5).contains(commands.count), "\(commands)")
    }

    @Test("Each target of make that they name exists", arguments: ["debian", "sdk"])
    func targets(_ way: String) throws {
        let block = try #require(Self.block(way, in: Self.pages()))
        let named = block.matches(of: #/\bmake ([a-z-]+)/#).map { String($0.1) }
        #expect(!named.isEmpty)
        let targets = try Makefiles.targets()
        for target in named {
            #expect(targets.contains(target), "make \(target)")
        }
    }

    @Test("A download begins with the address that the others clone", arguments: ["download", "tarball"])
    func address(_ way: String) throws {
        let readme = try Self.pages()
        let cloned = try #require(Self.block("debian", in: readme)?.firstMatch(of: #/git clone (\S+)/#)).1
        let block = try #require(Self.block(way, in: readme))
        #expect(block.hasPrefix("address=\(cloned)"))
        #expect(block.matches(of: #/https:\/\//#).count == 1)
    }

    @Test("The package and the tarball have the version of the sources")
    func version() throws {
        let readme = try Self.pages()
        let block = try #require(Self.block("package", in: readme))
        let version = try #require(block.firstMatch(of: #/--from ([0-9.]+)/#)).1
        #expect(readme.contains("/latchkey\", from: \"\(version)\")"))
        let tarball = try #require(Self.block("tarball", in: readme))
        #expect(tarball.contains("name=latchkey-\(version)-$(uname -m)-linux"))
        #expect(tarball.contains("/releases/download/v\(version)/"))
    }

    @Test("A here-document, and a line that ends with && or a backslash, belong to one command")
    func rule() {
        let block = """
            one && \\
                more
            cat > file << END
            text

            END
            # a comment

            two &&
                more
            """
        #expect(Self.commands(in: block).count == 3)
    }

    @Test("README.md has at most 250 lines, and each way into it a command within ten lines")
    func length() throws {
        let lines = try Self.text("README.md").components(separatedBy: "\n")
        #expect(lines.count <= 250)
        for way in ["In a terminal", "In Swift", "In a container", "On a desktop", "On a server", "In CI"] {
            let heading = try #require(lines.firstIndex(of: "## \(way)"), "\(way)")
            let text = lines[(heading + 1)...].prefix { $0 != "```sh" && $0 != "```console" }
            #expect(text.count <= 10, "\(way)")
        }
    }

    private static func pages() throws -> String {
        try text("README.md") + text("Documentation/Guides/Install.md") + text("Documentation/Guides/SwiftPackages.md")
    }

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: Sources.root.appending(path: path), encoding: .utf8)
    }

    /// The code block directly after the comment that names the way.
    private static func block(_ way: String, in readme: String) -> String? {
        let parts = readme.components(separatedBy: "\n<!-- way: \(way) -->\n```sh\n")
        guard parts.count == 2 else { return nil }
        return parts[1].components(separatedBy: "\n```\n").first
    }

    /// As in `Scripts/check/first-minutes`.
    private static func commands(in block: String) -> [String] {
        var commands: [String] = []
        var end: String?
        var isContinued = false
        for line in block.components(separatedBy: "\n") {
            if end == nil, !isContinued {
                let words = line.trimmingCharacters(in: .whitespaces)
                if words.isEmpty || words.hasPrefix("#") { continue }
                commands.append(line)
            }
            if end != nil {
                if line == end { end = nil }
            } else {
                end = line.firstMatch(of: #/<<-? *["']?([A-Za-z_]+)/#).map { String($0.1) }
                isContinued = line.hasSuffix("\\") || line.hasSuffix("&&")
            }
        }
        return commands
    }
}
