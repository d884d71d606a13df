// SPDX-License-Identifier: Apache-2.0

/// Suggests a command for a name that no command has.
enum Suggestion {
    /// Returns the words to type after the program's name; nil if no name is similar.
    ///
    /// As `latchkey`, a prefix counts as a typing error, because that name accepts no abbreviations.
    static func command(for name: String, in program: Program) -> String? {
        let word = name.lowercased()
        if program == .latchkey {
            if let own = LatchkeySubcommand(rawValue: word) { return own.rawValue }
            if let daily = dailySynonyms[word] { return daily }
        }
        if let words = synonyms[word] { return words }
        let built = CommandTable.entries.compactMap { entry in
            if case .implemented = entry.support { entry.name } else { nil }
        }
        let own = LatchkeySubcommand.allCases.filter { program == .latchkey || !$0.isDaily }.map(\.rawValue)
        return nearest(to: name, among: own + built, takesPrefixes: program == .latchkey)
    }

    /// Returns the name with the fewest typing errors, or, if there are too many, the first name
    /// that begins with the word.
    static func nearest(to word: String, among names: [String], takesPrefixes: Bool = true) -> String? {
        let characters = Array(word.lowercased())
        guard (2...maxLength).contains(characters.count) else { return nil }
        let distances = names.map { (name: $0, distance: distance(characters, Array($0))) }
        if let best = distances.min(by: { $0.distance < $1.distance }), best.distance <= max(1, characters.count / 4) {
            return best.name
        }
        return takesPrefixes ? names.first { $0.hasPrefix(word.lowercased()) } : nil
    }

    /// Returns the number of deleted, inserted, replaced and transposed characters (optimal string
    /// alignment distance).
    private static func distance(_ one: [Character], _ other: [Character]) -> Int {
        var before: [Int] = []
        var last = Array(0...other.count)
        for row in 1...one.count {
            var next = [row]
            for column in stride(from: 1, through: other.count, by: 1) {
                let isSame = one[row - 1] == other[column - 1]
                var minDistance = min(last[column] + 1, next[column - 1] + 1, last[column - 1] + (isSame ? 0 : 1))
                let isExchanged =
                    row > 1 && column > 1 && one[row - 1] == other[column - 2] && one[row - 2] == other[column - 1]
                if isExchanged { minDistance = min(minDistance, before[column - 2] + 1) }
                next.append(minDistance)
            }
            (before, last) = (last, next)
        }
        return last[other.count]
    }

    private static let maxLength = 40

    /// Words that other programs use for the daily commands of `latchkey`.
    private static let dailySynonyms = words([
        "get": ["find", "show", "read", "lookup", "search", "password", "cat"],
        "set": ["add", "put", "store", "new", "insert", "save"],
        "mv": ["move", "migrate"],
        "rm": ["delete", "remove", "del", "clear", "erase"],
        "list": ["ls", "dump", "items"],
        "generate": ["gen", "random", "pwgen"],
        "copy": ["cp", "clip", "clipboard", "yank"],
    ])

    /// Words that other programs use for these commands.
    private static let synonyms = words([
        "find-generic-password": ["get", "find", "show", "read", "lookup", "search", "password"],
        "add-generic-password": ["set", "add", "put", "store", "new", "insert"],
        "delete-generic-password": ["delete", "remove", "rm", "del", "clear", "erase"],
        "dump-keychain": ["list", "ls", "dump", "items"], "status": ["info"],
        "doctor": ["check", "fsck", "repair"],
        "who": ["whoami"], "log": ["logs", "audit", "journal"], "with-passcode": ["run", "exec"],
        "passcode set": ["set-passcode", "init"], "passcode change": ["passwd", "change-passcode"],
        "recovery-key create": ["recovery"], "recovery-key use": ["recover"], "verify-cert": ["verify"],
        "key generate": ["generate", "keygen"], "key sign": ["sign"], "key encrypt": ["encrypt"],
        "key decrypt": ["decrypt"],
        "key list": ["keys"], "certificate inspect": ["inspect", "cert"],
    ])

    /// Returns the command of each word.
    private static func words(_ table: [String: [String]]) -> [String: String] {
        var words: [String: String] = [:]
        for (command, names) in table { for name in names { words[name] = command } }
        return words
    }
}
