// SPDX-License-Identifier: Apache-2.0

@testable import KeychainStore
import KeychainTesting
import SecretMemory
import Testing

/// The comparison of secrets with a stream.
@Suite("Matcher of copies")
struct CopyMatcherTests {
    /// The matches of a stream in parts, as `position index`.
    private func matches(_ secrets: [[UInt8]], _ parts: [ArraySlice<UInt8>], windowLength: Int = 1 << 20) -> [String] {
        let matcher = CopyMatcher(secrets.map { SharedSecret(copying: $0) }, windowLength: windowLength)
        var found: [CopyMatcher.Match] = []
        for part in parts { found += matcher.matches(in: SharedSecret(copying: part)) }
        found += matcher.finish()
        return found.map { "\($0.position) \($0.index)" }.sorted()
    }

    private func expected(_ secrets: [[UInt8]], _ text: [UInt8]) -> [String] {
        text.indices.flatMap { start in
            secrets.indices.filter { text[start...].starts(with: secrets[$0]) }.map { "\(start) \($0)" }
        }.sorted()
    }

    @Test("It finds what a search byte by byte finds, however the stream is cut", arguments: 0..<200)
    func random(_ seed: Int) {
        var generator = SeededGenerator(seed: UInt64(seed))
        // Few different bytes: many secrets begin like others, and overlap.
        func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8.random(in: 0..<2, using: &generator) } }
        let secrets = (0..<6).map { _ in bytes(Int.random(in: 8...12, using: &generator)) }
        var text = bytes(300)
        for secret in secrets { text += secret + bytes(3) }
        var (parts, rest) = ([ArraySlice<UInt8>](), text[...])
        while !rest.isEmpty {
            parts.append(rest.prefix(Int.random(in: 0...40, using: &generator)))
            rest = rest.dropFirst(parts.last?.count ?? 0)
        }
        let found = matches(secrets, parts, windowLength: Int.random(in: 1...64, using: &generator))
        #expect(found == expected(secrets, text) && !found.isEmpty)
    }

    @Test("Without secrets nothing is found, and an empty stream has none")
    func empty() {
        #expect(matches([], [Array("some text that is long".utf8)[...]]).isEmpty)
        #expect(matches([Array("a secret".utf8)], []).isEmpty)
        #expect(matches([Array("a secret".utf8)], [Array("a secre".utf8)[...]]).isEmpty)
    }
}
