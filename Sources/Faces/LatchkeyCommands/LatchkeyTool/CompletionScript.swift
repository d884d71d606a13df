// SPDX-License-Identifier: Apache-2.0

/// The completion scripts of `latchkey`, with the daily commands, macOS's commands and `help`.
///
/// swift-argument-parser does not know the options of the commands that it never parses: for each it would offer its
/// own `--version` and `-h`, but macOS's commands refuse them. Their parts of its script are replaced.
enum CompletionScript {
    /// Returns the parser's script for bash, zsh or fish with these parts.
    static func withListedCommands(_ script: String) -> String {
        let lines = script.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let isFish = lines.first?.hasPrefix("function ") == true
        let changed = isFish ? fish(lines) : functions(lines, isZsh: lines.first?.hasPrefix("#compdef") == true)
        return changed.joined(separator: "\n")
    }

    /// A command with its completions.
    private struct Entry {
        let name: String
        /// Options without and with a value.
        let flags: [CommandOption]
        let options: [CommandOption]
        /// The words of operands.
        let words: [String]
        /// Whether operands are completed as files.
        let takesFiles: Bool

        init(name: String, options: [CommandOption] = [], words: [String] = [], takesFiles: Bool = false) {
            self.name = name
            let shown = options.filter { !$0.isHidden }
            flags = shown.filter { !$0.value.takesNextWord }
            self.options = shown.filter(\.value.takesNextWord)
            (self.words, self.takesFiles) = (words, takesFiles)
        }
    }

    private static let entries: [String: Entry] = {
        let macOS = CommandTable.entries.compactMap { entry in
            if case .implemented(let command) = entry.support { command.definition } else { nil }
        }
        var entries: [String: Entry] = [:]
        for one in macOS {
            let help = one.takesOnlyOperands ? [] : [CommandOption("--help", help: "show the usage")]
            entries[one.name] = Entry(
                name: one.name, options: one.options + help,
                takesFiles: !one.operands.isEmpty && !one.takesOnlyOperands)
        }
        for one in LatchkeySubcommand.allCases.compactMap(\.definition) {
            entries[one.name] = Entry(name: one.name, options: one.options)
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
        let indent = "        "
        let operands = entry.takesFiles ? [bashFiles] : entry.words.isEmpty ? [] : [bashWords(entry.words)]
        let values = entry.options.flatMap { option in
            let offered =
                switch option.completion {
                case .files: [indent + bashFiles]
                case .words(let words): [indent + bashWords(words)]
                case .nothing: [String]()
                }
            return ["    \(option.names.map { "'\($0)'" }.joined(separator: "|")))"] + offered
                + ["\(indent)return", "\(indent);;"]
        }
        return [
            "    repeating_flags=()",
            "    non_repeating_flags=(\(entry.flags.flatMap(\.names).joined(separator: " ")))",
            "    repeating_options=()",
            "    non_repeating_options=(\(entry.options.flatMap(\.names).joined(separator: " ")))",
            "    __latchkey_offer_flags_options -1", "", "    case \"${prev}\" in",
        ] + values + ["    esac", "", "    case \"${cur}\" in", "    -*) ;;", "    *)"]
            + operands.map { indent + $0 } + ["\(indent);;", "    esac"]
    }

    private static let bashFiles = "__latchkey_add_completions -f"

    private static func bashWords(_ words: [String]) -> String {
        "__latchkey_add_completions -W $'\(words.joined(separator: "\\n"))'"
    }

    private static func zsh(_ entry: Entry) -> [String] {
        let flags = entry.flags.flatMap { option in
            option.names.map { "'*\($0)[\(zshText(option.help))]'" }
        }
        let options = entry.options.flatMap { option in
            let action =
                switch option.completion {
                case .files: "_files"
                case .words(let words): "(\(words.joined(separator: " ")))"
                case .nothing: ""
                }
            let value = "\(zshText(option.value.name ?? "")):\(action)"
            return option.names.map { "'*\($0)[\(zshText(option.help))]:\(value)'" }
        }
        let operands =
            entry.takesFiles
            ? ["'*:file:_files'"] : ["'*:word:\(entry.words.isEmpty ? "" : "(\(entry.words.joined(separator: " ")))")'"]
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
                let flags = entry.flags.flatMap { option in option.fishNames.map { "'\($0)'" } }
                let specs = flags + entry.options.flatMap { option in option.fishNames.map { "'\($0)='" } }
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
            let value =
                switch option.completion {
                case .files: " -rF"
                case .words(let words): " -rfka '\(words.joined(separator: " "))'"
                case .nothing: option.value.takesNextWord ? " -rfka ''" : ""
                }
            let names = option.names.map { "-\($0.hasPrefix("--") ? "l" : "s") '\($0.drop { $0 == "-" })'" }
            return "\(start)flags_or_options \"latchkey \(entry.name)\"' \(names.joined(separator: " ")) "
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
    /// The names without their hyphens, as `argparse` of fish takes them: `f/force`.
    fileprivate var fishNames: [String] {
        let bare = names.map { String($0.drop { $0 == "-" }) }
        guard let short = names.first, short.count == 2, bare.count > 1 else { return bare }
        return [bare.prefix(2).joined(separator: "/")] + bare.dropFirst(2)
    }
}
