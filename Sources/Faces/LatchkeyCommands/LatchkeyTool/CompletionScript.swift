// SPDX-License-Identifier: Apache-2.0

/// The completion scripts of `latchkey`, with macOS's commands and `help`.
///
/// swift-argument-parser does not know the options of macOS's commands, which it never parses: for each it
/// would offer its own `--version` and `-h`, which they refuse. Their parts of its script are replaced.
enum CompletionScript {
    /// Returns the parser's script for bash, zsh or fish with these parts.
    static func withMacOSCommands(_ script: String) -> String {
        let lines = script.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let isFish = lines.first?.hasPrefix("function ") == true
        let changed = isFish ? fish(lines) : functions(lines, isZsh: lines.first?.hasPrefix("#compdef") == true)
        return changed.joined(separator: "\n")
    }

    /// What a command completes.
    private struct Entry {
        let name: String
        /// Options without and with a value.
        var flags: [CommandOption] = []
        var options: [CommandOption] = []
        /// The words of operands.
        var words: [String] = []
        /// Whether operands are completed as files.
        var takesFiles = false
    }

    private static let entries: [String: Entry] = {
        let macOS = CommandTable.entries.compactMap { entry in
            if case .implemented(let command) = entry.support { command.definition } else { nil }
        }
        var entries: [String: Entry] = [:]
        for one in macOS {
            let help = one.takesOnlyOperands ? [] : [CommandOption("--help", help: "show the usage")]
            let withValue = one.options.filter(\.takesNextWord)
            entries[one.name] = Entry(
                name: one.name, flags: one.options.filter { !$0.takesNextWord } + help, options: withValue,
                takesFiles: !one.operands.isEmpty && !one.takesOnlyOperands)
        }
        let own = LatchkeySubcommand.allCases.map(\.rawValue) + CommandFamily.allCases.map(\.rawValue)
        entries[HelpCommand.definition.name] = Entry(
            name: HelpCommand.definition.name, words: own + macOS.map(\.name))
        return entries
    }()

    // MARK: bash and zsh

    /// Replaces the bodies of the functions `_latchkey_NAME`.
    private static func functions(_ lines: [String], isZsh: Bool) -> [String] {
        var (result, isReplaced): ([String], Bool) = ([], false)
        for line in lines {
            if isReplaced {
                isReplaced = line != "}"
                continue
            }
            result.append(line)
            guard line.hasPrefix("_latchkey_"), line.hasSuffix("() {") else { continue }
            guard let entry = entries[String(line.dropFirst("_latchkey_".count).dropLast("() {".count))] else {
                continue
            }
            result += (isZsh ? zsh(entry) : bash(entry)) + ["}"]
            isReplaced = true
        }
        return result
    }

    private static func bash(_ entry: Entry) -> [String] {
        let files = "        __latchkey_add_completions -f"
        let operands =
            entry.takesFiles
            ? [files] : ["        __latchkey_add_completions -W $'\(entry.words.joined(separator: "\\n"))'"]
        let values = entry.options.flatMap { option in
            ["    '\(option.name)')"] + (option.namesFile ? [files] : []) + ["        return", "        ;;"]
        }
        return [
            "    repeating_flags=()",
            "    non_repeating_flags=(\(entry.flags.map(\.name).joined(separator: " ")))",
            "    repeating_options=()",
            "    non_repeating_options=(\(entry.options.map(\.name).joined(separator: " ")))",
            "    __latchkey_offer_flags_options -1", "", "    case \"${prev}\" in",
        ] + values + ["    esac", "", "    case \"${cur}\" in", "    -*) ;;", "    *)"] + operands + [
            "        ;;", "    esac",
        ]
    }

    private static func zsh(_ entry: Entry) -> [String] {
        let flags = entry.flags.map { "'*\($0.name)[\(zshText($0.help))]'" }
        let options = entry.options.map { option in
            "'*\(option.name)[\(zshText(option.help))]:\(zshText(option.valueName)):\(option.namesFile ? "_files" : "")'"
        }
        let operands = entry.takesFiles ? ["'*:file:_files'"] : ["'*:word:(\(entry.words.joined(separator: " ")))'"]
        return ["    local -i ret=1", "    local -ar arg_specs=("]
            + (flags + options + operands).map { "        \($0)" }
            + ["    )", "    _arguments -w -s -S : \"${arg_specs[@]}\" && ret=0", "", "    return \"${ret}\""]
    }

    private static func zshText(_ text: String) -> String {
        text.map { character in
            switch character {
            case "'": "'\\''"
            case "[", "]", ":", "\\": "\\\(character)"
            default: String(character)
            }
        }.joined()
    }

    // MARK: fish

    /// Replaces the parser's lines for the options and operands of each command.
    private static func fish(_ lines: [String]) -> [String] {
        var (result, last): ([String], Entry?) = ([], nil)
        var written: Set<String> = []
        for line in lines {
            if let entry = last, line.contains("__latchkey_parse_subcommand ") {
                let specs = entry.flags.map { "'\($0.fishName)'" } + entry.options.map { "'\($0.fishName)='" }
                result.append("            __latchkey_parse_subcommand -r 1 \(specs.joined(separator: " "))")
                last = nil
                continue
            }
            // Commands of the first level only: further ones are indented more.
            last =
                line.hasPrefix("        case '")
                ? entries[String(line.dropFirst("        case '".count).dropLast())] : nil
            guard line.hasPrefix("complete -c "), let entry = entries.values.first(where: { isOption(line, of: $0) })
            else {
                result.append(line)
                continue
            }
            if written.insert(entry.name).inserted { result += fish(entry) }
        }
        return result
    }

    private static func isOption(_ line: String, of entry: Entry) -> Bool {
        line.contains("_flags_or_options \"latchkey \(entry.name)\" ")
            || line.contains("_for_positional \"latchkey \(entry.name)\" ")
    }

    private static func fish(_ entry: Entry) -> [String] {
        let start = "complete -c 'latchkey' -n '__latchkey_should_offer_completions_for_"
        let options = (entry.flags + entry.options).map { option in
            let value = option.takesNextWord ? (option.namesFile ? " -rF" : " -rfka ''") : ""
            let kind = option.isShort ? "s" : "l"
            return "\(start)flags_or_options \"latchkey \(entry.name)\"' -\(kind) '\(option.fishName)' "
                + "-d '\(fishText(option.help))'\(value)"
        }
        let operands = entry.takesFiles ? "-F" : "-fka '\(entry.words.joined(separator: " "))'"
        return options + ["\(start)positional \"latchkey \(entry.name)\" -ge 1' \(operands)"]
    }

    private static func fishText(_ text: String) -> String {
        text.map { $0 == "'" || $0 == "\\" ? "\\\($0)" : String($0) }.joined()
    }
}

extension CommandOption {
    /// Whether the next word is always the value.
    fileprivate var takesNextWord: Bool {
        switch value {
        case .required, .pair: true
        case .none, .optional: false
        }
    }

    /// What usage lines call the value.
    fileprivate var valueName: String {
        switch value {
        case .required(let name), .pair(let name), .optional(let name): name
        case .none: ""
        }
    }

    /// Whether the value is a file, or a keychain, which can be one.
    fileprivate var namesFile: Bool {
        takesNextWord && ["file", "path", "directory", "keychain"].contains { valueName.contains($0) }
    }

    /// The name without its hyphens.
    fileprivate var fishName: String { String(name.drop { $0 == "-" }) }
}
