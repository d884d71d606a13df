// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The Makefile, and the rules that it includes.
enum Makefiles {
    struct File {
        let path: String
        let text: String
    }

    static func all() throws -> [File] {
        let main = try file("Makefile")
        let included = main.text.firstMatch(of: /(?m)^RULES := (.+)$/)?.1.split(separator: " ") ?? []
        return [main] + (try included.map { try file(String($0)) })
    }

    static func text() throws -> String { try all().map(\.text).joined(separator: "\n") }

    static func targets() throws -> Set<String> {
        Set(try text().matches(of: /(?m)^([a-z-]+):(?!=)/).map { String($0.1) })
    }

    private static func file(_ path: String) throws -> File {
        File(path: path, text: try String(contentsOf: Sources.root.appending(path: path), encoding: .utf8))
    }
}
