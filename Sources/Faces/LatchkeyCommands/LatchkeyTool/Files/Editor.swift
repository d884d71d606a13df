// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxSystem

/// The editor of the person, and how it is started so that it leaves nothing of the text on the disk.
struct Editor {
    /// The value of the variable: the program, and options of the person.
    private let command: String
    private let kind: Kind?

    /// - Parameter command: as in `$EDITOR`: the shell runs it.
    init(_ command: String) {
        self.command = command
        let program = String(command.drop(while: \.isWhitespace).prefix { !$0.isWhitespace })
        kind = Kind(program) ?? Self.resolved(program).flatMap { Kind($0) }
    }

    /// The editor of the environment: `$VISUAL`, then `$EDITOR`, then vi.
    static var ofEnvironment: Editor {
        let named = ["VISUAL", "EDITOR"].compactMap { SecureEnvironment.value(of: $0) }
        return Editor(named.first { !$0.allSatisfy(\.isWhitespace) } ?? "vi")
    }

    /// A warning for the person before the start of the editor; nil for an editor that leaves nothing.
    var warning: (problem: TerminalText, hint: TerminalText)? {
        switch kind {
        case .client:
            (
                "the Emacs that runs already opens the text, and may keep parts of it on the disk",
                "EDITOR=emacs starts one that does not"
            )
        case nil:
            (
                "'\(command)' may keep parts of the text on the disk: it is not an editor with known options",
                "EDITOR=vim, nvim, nano, emacs, micro, joe, kak, hx, ed or 'code --wait'"
            )
        default: nil
        }
    }

    /// Runs the editor, and returns how it has ended.
    func edit(_ place: EditingPlace) throws(SystemError) -> ChildProcess.Ending {
        // As git does: the variable may have options. Ours come first, so that the person's prevail.
        let program = command.drop(while: \.isWhitespace).prefix { !$0.isWhitespace }
        let rest = command.drop(while: \.isWhitespace).dropFirst(program.count)
        let options = kind.map { " \($0.options)" } ?? ""
        // A signal is forwarded to the child, so the child must be the editor: not every shell replaces itself by it.
        let replacement = isOneProgram ? "exec " : ""
        let script = "\(kind?.preparation ?? "")\(replacement)\(program)\(options)\(rest) \"$1\""
        // Filters of an editor, such as vim's `:!sort`, use files in TMPDIR.
        let directory = place.directory.path
        guard let temporary = directory.text else { throw SystemError("use", path: directory, code: EILSEQ) }
        return try ChildProcess.runToEnd(
            ["sh", "-c", script, String(program)].map { Array($0.utf8) }
                + [place.path.bytes, directory.bytes],
            inheriting: place.directory.lock.rawValue, variables: ["TMPDIR": temporary])
    }

    /// Whether the shell can start the editor in its own place: it has no variables before it, is no command of the
    /// shell, and none follows it.
    private var isOneProgram: Bool {
        let program = command.drop(while: \.isWhitespace).prefix { !$0.isWhitespace }
        return !program.contains("=") && !Self.shellCommands.contains(String(program))
            && !command.contains { "&|;()`!".contains($0) || $0.isNewline }
    }

    private static let shellCommands: Set<String> = [":", ".", "builtin", "command", "eval", "exec"]

    /// The name of the file that a command means, behind the links of update-alternatives.
    private static func resolved(_ program: String) -> String? {
        let places = (SecureEnvironment.value(of: "PATH") ?? "").split(separator: ":").map { "\($0)/" }
        for path in (program.contains("/") ? [""] : places).map({ $0 + program }) where access(path, X_OK) == 0 {
            guard let found = realpath(path, nil) else { return nil }
            defer { free(found) }
            return String(validatingCString: found)
        }
        return nil
    }
}

extension Editor {
    private enum Kind {
        case vim, graphicalVim, neovim, nvi, nano, emacs, client, ed, micro, joe, kakoune, helix, code, busybox

        /// - Parameter path: of the program, or its name.
        init?(_ path: String) {
            let name = path.split(separator: "/").last.map(String.init) ?? path
            switch name {
            case "vim", "rvim", "vim.basic", "vim.tiny", "vim.nox", "vim.gtk3", "vim.motif": self = .vim
            case "gvim": self = .graphicalVim
            case "nvim": self = .neovim
            case "nvi", "nex": self = .nvi
            case "nano", "rnano": self = .nano
            case "emacs", "emacs-nox", "emacs-gtk", "emacs-lucid", "emacs-pgtk": self = .emacs
            case "emacsclient", "emacsclient.emacs": self = .client
            case "ed": self = .ed
            case "micro": self = .micro
            case "joe", "jmacs", "jstar", "jpico", "rjoe": self = .joe
            case "kak": self = .kakoune
            case "hx", "helix": self = .helix
            case "code", "codium": self = .code
            case "busybox": self = .busybox
            default: return nil
            }
        }

        /// The commands of the shell before it starts the editor: `$2` is the private directory.
        var preparation: String {
            switch self {
            // After a broken connection, they save the text into the current directory.
            case .ed, .joe: "cd \"$2\" && "
            case .nvi: "export EXINIT=\"set directory=$2 recdir=$2\"; "
            // Without the directory it asks.
            case .micro: "mkdir \"$2/micro\" && "
            default: ""
            }
        }

        /// In words of the shell.
        var options: String {
            switch self {
            // No swap file and no viminfo; the rest after the configuration of the person.
            case .vim: "-n -i NONE -c '\(Self.vimSettings) viminfo='"
            case .graphicalVim: "-f -n -i NONE -c '\(Self.vimSettings) viminfo='"
            case .neovim: "-n -i NONE -c '\(Self.vimSettings) shada='"
            // Without the configuration, because it may ask for backups and histories.
            case .nano: "--ignorercfiles"
            case .emacs: "-Q --eval '\(Self.emacsSettings)'"
            // A directory of its own for configuration, backups and histories.
            case .micro: "-config-dir \"$2/micro\" -backup false -savehistory false"
            case .joe: "-nobackups -nodeadjoe --joe_state"
            case .kakoune: "-n"
            case .code: "--wait --new-window --disable-extensions --user-data-dir \"$2/code\""
            case .nvi, .client, .ed, .helix, .busybox: ""
            }
        }

        private static let vimSettings = "set nobackup nowritebackup noundofile noswapfile"
        private static let emacsSettings =
            "(setq make-backup-files nil auto-save-default nil auto-save-list-file-prefix nil create-lockfiles nil)"
    }
}
