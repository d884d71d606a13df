// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The lines of one kind of public script, with the output of each line. `Recipes/README.md` describes the format.
struct Recipe: Sendable {
    /// The kind of script: the name of the file, without its extension.
    let kind: String
    let title: String
    let variables: [Variable]
    let lines: [Line]

    /// How the processes of a run use the keychains.
    enum Mode: String, CaseIterable, Sendable {
        /// Each process opens them itself.
        case embedded
        /// All processes use one latchkeyd; one of them has started it.
        case daemon
    }

    /// A variable of the environment.
    struct Variable: Sendable {
        let name: String
        let value: String
        /// nil for both modes.
        let mode: Mode?
    }

    /// A command line, and its expected output and status.
    struct Line: Sendable {
        let command: String
        /// nil for both modes.
        let mode: Mode?
        var output: [String] = []
        var error: [String] = []
        var status: Int32 = 0

        /// Whether some text is compared, and not only the exit value.
        var comparesText: Bool {
            (output + error).contains { !["", "<text>", "security: <text>"].contains($0) }
        }
    }

    func lines(in mode: Mode) -> [Line] { lines.filter { $0.mode == nil || $0.mode == mode } }

    /// Whether a line changes the machine itself.
    var changesMachine: Bool { lines.contains { $0.command.contains("sudo ") } }

    /// Whether a line starts the user's daemon, as the creation of a keychain with a password does.
    var startsDaemon: Bool {
        lines(in: .daemon).contains { line in
            line.command.contains("security create-keychain ")
                && !["''", "\"\""].contains { line.command.contains("create-keychain -p \($0) ") }
        }
    }
}

// MARK: Reading

extension Recipe {
    struct FormatError: Error, CustomStringConvertible {
        let description: String
    }

    /// Returns the recipes of this package, sorted by kind.
    static func all() throws -> [Recipe] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Recipes")
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil).filter {
            $0.pathExtension == "recipe"
        }
        return try files.sorted { $0.path < $1.path }.map { file in
            try Recipe(
                kind: file.deletingPathExtension().lastPathComponent, parsing: String(contentsOf: file, encoding: .utf8)
            )
        }
    }

    init(kind: String, parsing text: String) throws(FormatError) {
        var title: String?
        var variables: [Variable] = []
        var lines: [Line] = []
        for (index, row) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            func failure(_ problem: String) -> FormatError {
                FormatError(description: "\(kind).recipe:\(index + 1): \(problem)")
            }
            let (mode, unmarked) = Self.mode(of: row)
            let mark = String(unmarked.prefix(2))
            let rest = String(unmarked.dropFirst(2))
            guard mode == nil || mark == "$ " || mark == "@ " else {
                throw failure("a mode must be followed by a command or a variable")
            }
            switch mark {
            case "", "#": continue
            case "# ": title = title ?? rest
            case "@ ":
                guard lines.isEmpty else { throw failure("variables must be before the first command") }
                guard let equals = rest.firstIndex(of: "="), equals > rest.startIndex else {
                    throw failure("NAME=VALUE is expected after '@'")
                }
                let value = String(rest[rest.index(after: equals)...])
                variables.append(Variable(name: String(rest[..<equals]), value: value, mode: mode))
            case "$ ": lines.append(Line(command: rest, mode: mode))
            default:
                guard let last = lines.indices.last else { throw failure("output must be after a command") }
                switch mark {
                case "! ": lines[last].error.append(rest)
                case "? ":
                    guard let status = UInt8(rest), status > 0 else {
                        throw failure("an exit value from 1 to 255 is expected after '?'")
                    }
                    lines[last].status = Int32(status)
                case "|", "| ": lines[last].output.append(rest)
                default: lines[last].output.append(String(unmarked))
                }
            }
        }
        guard let title, !lines.isEmpty else {
            throw FormatError(description: "\(kind).recipe: a title and a command are expected")
        }
        (self.kind, self.title, self.variables, self.lines) = (kind, title, variables, lines)
    }

    /// Splits a row into the mode that it is marked with and the rest.
    private static func mode(of row: Substring) -> (Mode?, Substring) {
        for mode in Mode.allCases where row.hasPrefix("[\(mode.rawValue)] ") {
            return (mode, row.dropFirst(mode.rawValue.count + 3))
        }
        return (nil, row)
    }
}
