// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import Testing

/// Runs the lines of public scripts, listed in `Recipes` by kind, and compares their output.
@Suite("Recipes")
struct RecipeTests {
    /// One recipe in one mode.
    struct Run: Sendable, CustomTestStringConvertible {
        let recipe: Recipe
        let mode: Recipe.Mode

        var testDescription: String { "\(recipe.kind), \(mode.rawValue)" }
    }

    /// All runs. A recipe that changes the machine has a mount namespace for each of its lines, and
    /// these share no daemon.
    private static func runs() throws -> [Run] {
        try Recipe.all().flatMap { recipe in
            Recipe.Mode.allCases.filter { $0 == .embedded || !recipe.changesMachine }.map {
                Run(recipe: recipe, mode: $0)
            }
        }
    }

    @Test(
        "Each line of a public script prints the output of macOS", .long, .timeLimit(.minutes(10)),
        arguments: try runs())
    func recipe(_ run: Run) throws {
        let (recipe, mode) = (run.recipe, run.mode)
        guard !recipe.changesMachine || NamespaceTests.isPossible else {
            return reportSkipped("recipe \(recipe.kind): \(NamespaceTests.reason.rawValue)")
        }
        let world = try RecipeWorld(recipe, mode)
        if mode == .daemon, !recipe.startsDaemon { try world.startDaemon() }
        var comparison = RecipeOutput()
        for line in recipe.lines(in: mode) {
            let outcome = try world.run(line.command)
            let isExpected = (
                output: comparison.matches(RecipeOutput.lines(outcome.output), line.output),
                error: comparison.matches(RecipeOutput.errorLines(outcome.error), line.error)
            )
            #expect(outcome.status == line.status, "\(line.command): \(outcome)")
            #expect(isExpected.output, "\(line.command): \(outcome); expected: \(line.output)")
            #expect(isExpected.error, "\(line.command): \(outcome); expected on standard error: \(line.error)")
        }
        switch mode {
        case .embedded: #expect(try world.daemon() == nil)
        case .daemon: #expect(try world.stopDaemon(), "no command has started a daemon, or it does not end")
        }
    }

    @Test("There are at least 100 lines of 23 kinds, none of them twice, and each recipe compares text in each mode")
    func counts() throws {
        let recipes = try Recipe.all()
        #expect(recipes.count >= 23)
        #expect(recipes.flatMap(\.lines).filter { $0.command.contains("security ") }.count >= 100)
        #expect(Set(recipes.map(\.title)).count == recipes.count)
        for mode in Recipe.Mode.allCases {
            let commands = recipes.flatMap { $0.lines(in: mode) }.map(\.command)
            let repeated = Dictionary(grouping: commands) { $0 }.filter { $0.value.count > 1 }.keys.sorted()
            #expect(repeated == [])
            for recipe in recipes {
                #expect(recipe.lines(in: mode).contains { $0.comparesText }, "\(recipe.kind), \(mode)")
            }
        }
    }

    @Test("Every line of Documentation/CI.md is one of a recipe, and prints the page's output")
    func guide() throws {
        let path = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Documentation/CI.md")
        var lines: [(command: String, output: [String])] = []
        var isConsole = false
        for row in try String(contentsOf: path.standardized, encoding: .utf8).split(separator: "\n") {
            if row.hasPrefix("```") {
                isConsole = row == "```console"
            } else if isConsole, row.hasPrefix("$ ") {
                lines.append((String(row.dropFirst(2)), []))
            } else if isConsole, !lines.isEmpty {
                lines[lines.count - 1].output.append(String(row))
            }
        }
        #expect(lines.count > 25)
        let known = try Recipe.all().flatMap { $0.lines(in: .daemon) }
        for line in lines {
            let recipe = try #require(known.first { $0.command == line.command }, "\(line.command)")
            let shown = recipe.output.map { $0.replacing(/<[^>]+>/, with: "…") }
            #expect(recipe.status == 0 && shown == line.output, "\(line.command): \(shown)")
        }
    }

    // MARK: The format

    @Test("A recipe is read row by row")
    func format() throws {
        let recipe = try Recipe(
            kind: "example",
            parsing: """
                # A title
                @ NAME=a=b
                [embedded] @ OTHER=

                $ first
                output
                | $ output
                |
                ! error
                ? 44
                # a comment
                [daemon] $ second
                """)
        #expect(recipe.title == "A title")
        #expect(recipe.variables.map(\.name) == ["NAME", "OTHER"] && recipe.variables.map(\.value) == ["a=b", ""])
        #expect(recipe.lines(in: .embedded).map(\.command) == ["first"])
        #expect(recipe.lines(in: .daemon).map(\.command) == ["first", "second"])
        let first = try #require(recipe.lines.first)
        #expect(first.output == ["output", "$ output", ""] && first.error == ["error"] && first.status == 44)
    }

    @Test(
        "A malformed recipe is refused, with the number of the row",
        arguments: [
            ("# a\noutput", "example.recipe:2: output must be after a command"),
            ("# a\n$ b\n@ C=d", "example.recipe:3: variables must be before the first command"),
            ("# a\n@ C", "example.recipe:2: NAME=VALUE is expected after '@'"),
            ("# a\n$ b\n? 0", "example.recipe:3: an exit value from 1 to 255 is expected after '?'"),
            ("# a\n$ b\n[daemon] ! c", "example.recipe:3: a mode must be followed by a command or a variable"),
            ("$ b", "example.recipe: a title and a command are expected"),
            ("# a", "example.recipe: a title and a command are expected"),
        ])
    func malformed(_ text: String, _ problem: String) {
        let error = #expect(throws: Recipe.FormatError.self) { try Recipe(kind: "example", parsing: text) }
        #expect(error?.description == problem)
    }

    @Test(
        "A placeholder matches only its own kind of text",
        arguments: [
            ("plain <NULL> (x) \\", "plain <NULL> (x) \\", true), ("plain", "plain ", false),
            ("a<blank>", "a ", true), ("a<blank>", "a", false), ("<text>", "", true), ("a<text>b", "a or b", true),
            ("<number> bytes", "12 bytes", true), ("<number> bytes", "x bytes", false),
            ("<hex40>", String(repeating: "A", count: 40), true), ("<hex40>", String(repeating: "a", count: 40), false),
            ("=<date>", #"=0x32303236303130313030303030305A00  "20260101000000Z\000""#, true),
            ("<path build>", "/h/keychains/build/keychain.db", true),
            ("<path build>", "/h/build.keychain-db", true), ("<path build>", "/h/rebuild.keychain-db", false),
            ("<path build>", "/h/build-db", true), ("<path build>", "build.keychain", false),
            ("\"<path login>\"", "\"/h/keychain.db\"", true),
        ])
    func placeholder(_ expected: String, _ found: String, _ isMatch: Bool) {
        var comparison = RecipeOutput()
        let matches = comparison.matches([found], [expected])
        #expect(matches == isMatch)
    }

    @Test("A keychain has one path in a recipe, and another keychain another one")
    func paths() {
        var comparison = RecipeOutput()
        let results = [
            comparison.matches(["/h/a/db"], ["<path a>"]), comparison.matches(["/i/a/db"], ["<path a>"]),
            comparison.matches(["/h/a/db"], ["<path login>"]), comparison.matches(["/h/db"], ["<path login>"]),
            comparison.matches(["/h/a/db", "/h/db"], ["<path a>", "<path login>"]),
            comparison.matches(["/h/a/db"], ["<path a>", "<path login>"]),
        ]
        #expect(results == [true, false, false, true, true, false])
    }

    @Test("Only Latchkey's additions to standard error are not compared")
    func additions() {
        let text = """
            security: a failure
            hint: type this
            latchkey: latchkeyd was started
            security: note: something else
            security: applied: App Transport Security without exceptions
            security: a passcode on the command line is visible to every process
            password: "x"

            """
        #expect(RecipeOutput.errorLines(text) == ["security: a failure", "password: \"x\""])
    }
}
