// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import LatchkeyOperations
import Testing

/// The steps of CONTRIBUTING for a new operation, and the files that name the newest operation.
@Suite("Recipe of an operation")
struct OperationRecipeTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized

    /// The newest request of the schema: the name of its field, and the type that it is decoded to.
    private static func newest() throws -> (field: String, type: String) {
        let schema = try OperationTableTests.schema()
        let number = try #require(schema.keys.max())
        let operation = try #require(Samples.requests.first { try OperationTableTests.field($0) == number })
        return (try #require(schema[number]), "\(type(of: operation))")
    }

    /// The first link of each numbered step.
    private static func steps() throws -> [String] {
        let page = try String(contentsOf: root.appending(path: "CONTRIBUTING.md"), encoding: .utf8)
        let section = try #require(page.components(separatedBy: "## How to add an operation\n").dropFirst().first)
        let steps = section.components(separatedBy: "\n## ")[0].split(separator: /\n(?=\d\. )/).dropFirst()
        return try steps.map { step in String(try #require(step.firstMatch(of: /\]\(([^)]+)\)/)).1) }
    }

    /// The Swift files below a directory that contain a word, as paths from the root.
    private static func files(below directory: String, containing word: String) throws -> Set<String> {
        let pattern = try Regex("\\b\(word)\\b", as: Substring.self)
        let start = root.appending(path: directory)
        let files = try #require(FileManager.default.enumerator(at: start, includingPropertiesForKeys: nil))
        var found: Set<String> = []
        for case let file as URL in files where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            guard text.contains(word), text.contains(pattern) else { continue }
            found.insert(String(file.standardized.path.dropFirst(root.path.count + 1)))
        }
        return found
    }

    @Test("The newest operation is in the at most eight files that the recipe lists, and in no others")
    func newestFollowsTheRecipe() throws {
        let (field, type) = try Self.newest()
        let steps = try Self.steps()
        #expect((5...8).contains(steps.count), "\(steps)")

        let named = try ["Sources/Service", "Sources/Faces", "Sources/Executables"].reduce(into: Set<String>()) {
            $0.formUnion(try Self.files(below: $1, containing: type))
        }
        let allowed = steps.filter { !$0.hasPrefix("Documentation") }
        // Other files call the operation by its verb.
        for file in named { #expect(allowed.contains { file.hasPrefix($0) }, "\(type) is named in \(file)") }
        #expect(named.contains { $0.hasSuffix("OperationTable.swift") })
        #expect(try Self.files(below: "Tests/KeychainTesting", containing: type).contains(steps[5]), "no sample")

        let schema = try Self.files(
            below: "Sources/Service/LatchkeyProtocol", containing: "case \(field.camelCased)")
        #expect(schema == [steps[1]])
    }
}

extension String {
    /// The name that protoc gives to a field in Swift.
    fileprivate var camelCased: String {
        let words = split(separator: "_")
        return words.prefix(1).joined() + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }
}
