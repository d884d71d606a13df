// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

#if swift(>=6)
    @testable import HelpersSwift6
#else
    @testable import HelpersSwift5
#endif

@Suite("RandomToken")
struct RandomTokenTests {
    @Test("a token has the requested length", arguments: [0, 1, 32, 4096])
    func length(count: Int) throws {
        #expect(try RandomToken(count: count).data.count == count)
    }

    @Test("no two tokens are equal")
    func unequal() throws {
        let tokens = try (0..<100).map { _ in try RandomToken() }
        #expect(Set(tokens).count == 100)
    }

    @Test("the text of a token is valid in a URL")
    func text() throws {
        let allowed = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        let text = try RandomToken(count: 1000).urlSafeText
        #expect(text.count == 1334)
        #expect(text.allSatisfy { allowed.contains($0) })
    }
}
