// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import LinuxSystem

/// `latchkey import --from …`: the words of `import` that have the option are those of ``ImportKeyring``.
enum KeyringImport {
    static let option = "--from"

    /// Whether the words after `import` have the option, and not as the value of another one.
    static func isMeant(by words: ArraySlice<CommandWord>) -> Bool {
        var rest = words
        while let word = rest.popFirst() {
            if word == "--" { return false }
            if word.text == option || word.hasPrefix("\(option)=") { return true }
            for _ in 0..<valueCount(after: word) { _ = rest.popFirst() }
        }
        return false
    }

    /// Returns how many words the value of an option has. A value in the same word is not recognized. This does not
    /// matter, because no value ends like the name of an option that has one.
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

    /// - Parameter words: the arguments after `import`.
    /// - Returns: the status; 0 is success.
    static func execute(_ words: ArraySlice<CommandWord>, in session: CommandSession) -> Int32 {
        do {
            var command = try ArgumentText.parse(ImportKeyring.self, words)
            if let own = command as? ImportKeyring { return own.exitStatus(in: session) }
            // The parser's own command for help; it throws its text.
            try command.run()
            return 0
        } catch {
            let text = ImportKeyring.fullMessage(for: error, columns: session.io.columns)
            guard ImportKeyring.exitCode(for: error) != .success else {
                try? session.write(TerminalText(lines: text.hasSuffix("\n") ? text : text + "\n"))
                return 0
            }
            session.reportUsage(
                "\(ArgumentText.shown(ImportKeyring.message(for: error)))",
                hint: "latchkey import --from gnome-keyring --help")
            return CommandFailure.usage(nil).status
        }
    }
}
