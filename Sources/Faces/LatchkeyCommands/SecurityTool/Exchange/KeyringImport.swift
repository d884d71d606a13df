// SPDX-License-Identifier: Apache-2.0

/// `latchkey import --from …`, which the program `latchkey-import` runs.
enum KeyringImport {
    static let option = "--from"

    /// Whether the words after `import` have the option, and not as the value of another one.
    static func isMeant(by words: ArraySlice<CommandWord>) -> Bool {
        var rest = Array(words)[...]
        while let word = rest.popFirst() {
            if word == "--" { return false }
            if word.text == option || word.hasPrefix("\(option)=") { return true }
            rest = rest.dropFirst(valueCount(after: word))
        }
        return false
    }

    /// How many words the value of an option has. A value in the same word is not recognized, which is no
    /// matter: no value ends like the name of an option that has one.
    private static func valueCount(after word: CommandWord) -> Int {
        guard word.hasPrefix("-"), word.count > 1 else { return 0 }
        // Of a cluster, the last option has the value.
        let name = word.hasPrefix("--") ? word.text : "-\(word.text.suffix(1))"
        switch ImportItems.definition.options.first(where: { $0.name == name })?.value {
        case .some(.required), .some(.optional): return 1
        case .some(.pair): return 2
        case .some(.none), nil: return 0
        }
    }

    /// - Returns: the status of the failure; the program has another process otherwise.
    static func execute(_ words: ArraySlice<CommandWord>, in session: CommandSession) -> Int32 {
        do throws(CommandFailure) {
            try CompanionProgram.keyringImport.run(Array(words), in: session)
        } catch {
            session.report(error, of: ImportItems.definition.name, as: .latchkey)
            return error.status
        }
    }
}
