// SPDX-License-Identifier: Apache-2.0

@testable import LatchkeyCommands
import KeychainModel
import SecretMemory
import Testing

@Suite("Comparing items with the same attributes")
struct SecretComparisonTests {
    /// The secrets of the source and of the keychain, and the states of the source's items.
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let source: [String]
        let keychain: [String?]
        let states: String
    }

    static let rows = [
        Row(testDescription: "nothing is there", source: ["a"], keychain: [], states: "new"),
        Row(testDescription: "the same is there", source: ["a"], keychain: ["a"], states: "equal"),
        Row(testDescription: "another one is there", source: ["a"], keychain: ["b"], states: "different"),
        Row(testDescription: "an unknown one is there", source: ["a"], keychain: [nil], states: "different"),
        Row(testDescription: "two of the source", source: ["a", "b"], keychain: [], states: "new new"),
        Row(testDescription: "interrupted after the first", source: ["a", "b"], keychain: ["a"], states: "equal new"),
        Row(testDescription: "all are there", source: ["a", "b"], keychain: ["b", "a"], states: "equal equal"),
        Row(
            testDescription: "one has changed at the source", source: ["a", "c"], keychain: ["a", "b"],
            states: "equal different"),
        Row(testDescription: "twice the same", source: ["a", "a"], keychain: [], states: "new equal"),
        Row(testDescription: "twice the same again", source: ["a", "a"], keychain: ["a"], states: "equal equal"),
        Row(testDescription: "empty secrets", source: ["", "a"], keychain: [""], states: "equal new"),
        Row(testDescription: "nothing of the source", source: [], keychain: ["a"], states: ""),
    ]

    @Test("An item is new, equal or different by all secrets with its attributes", arguments: rows)
    func states(_ row: Row) {
        let present = row.keychain.map { $0.map(Self.secret) }
        let states = SecretComparison.states(of: row.source.map(Self.secret), among: present)
        #expect(states.map(\.rawValue).joined(separator: " ") == row.states)
    }

    private static func secret(_ text: String) -> SharedSecret { SharedSecret(copying: text.utf8) }

    @Test("Groups have the items with equal bytes in their attributes, and at most a thousand")
    func groups() throws {
        func item(_ number: Int, _ value: String) throws -> SourceItem {
            try SourceItem(
                number: number, collection: 0, label: "", attributes: [(name: "a", value: value)], created: 0)
        }
        var contents = SourceContents(collections: [SourceCollection(label: "Login")])
        // The second text is the first one, decomposed.
        contents.items = try [item(0, "\u{E9}"), item(1, "e\u{301}"), item(2, "\u{E9}")]
        let few = ItemGroup.groups(of: contents)
        #expect(few.groups.map { $0.items.map(\.number) } == [[0, 2], [1]] && few.excess.isEmpty)
        contents.items = try (0...ItemGroup.maxCount).map { try item($0, "x") } + [item(2000, "y")]
        let many = ItemGroup.groups(of: contents)
        #expect(many.groups.map(\.items.count) == [ItemGroup.maxCount, 1])
        #expect(many.excess.map(\.number) == [ItemGroup.maxCount])
        #expect(ItemGroup.batches(of: many.groups).map(\.count) == [1, 1])
        let small = try (0..<70).map { ItemGroup(key: many.groups[0].key, items: [try item($0, "x")]) }
        #expect(ItemGroup.batches(of: small).map(\.count) == [32, 32, 6])
    }
}
