// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import KeychainTesting
import LinuxSystem
import Testing

/// `latchkey edit`: the stored text, the kept text, and the traces of the text.
@Suite("Editing a protected file", .enabled(if: EditingShell.isAvailable, "needs a tmpfs at /dev/shm"))
struct EditCommandTests {
    private let shell: EditingShell

    init() throws { shell = try EditingShell() }

    // MARK: Two editors

    @Test("Of two editors of one file, the second save fails, and its text is kept", .long)
    func conflict() throws {
        try shell.protect("first\n")
        try shell.editor("inner", #"printf 'inner\n' >> "$1""#)
        try shell.editor("outer", #"EDITOR=inner latchkey edit notes && printf 'outer\n' >> "$1""#)
        let run = try shell.run("EDITOR=outer latchkey edit notes")
        #expect(run.exit != 0 && run.error.contains("another program changed it meanwhile"), "\(run)")
        #expect(try shell.run("latchkey cat notes").output == "first\ninner\n")
        try expectKept("first\nouter\n", run)
    }

    @Test("A file that is created or removed during the edit is left as it is, and the text is kept", .long)
    func createdAndRemoved() throws {
        try shell.editor("inner", #"printf 'inner\n' >> "$1""#)
        try shell.editor(
            "outer", #"EDITOR=inner latchkey edit --class complete new && printf 'outer\n' >> "$1""#)
        let created = try shell.run("EDITOR=outer latchkey edit --class complete new")
        #expect(created.exit != 0, "\(created)")
        #expect(try shell.run("latchkey cat new").output == "inner\n")
        try expectKept("outer\n", created)
        try shell.protect("first\n")
        try shell.editor("remover", #"rm notes && printf 'more\n' >> "$1""#)
        let removed = try shell.run("EDITOR=remover latchkey edit --class complete notes")
        #expect(removed.exit != 0, "\(removed)")
        #expect(!FileManager.default.fileExists(atPath: "\(shell.directory)/notes"))
        try expectKept("first\nmore\n", removed)
    }

    @Test(
        "A file that another one has replaced, with the same content or not, is not written", arguments: [true, false])
    func replaced(_ isSame: Bool) throws {
        try shell.protect("first\n")
        let other = isSame ? "cp notes other" : "printf other > other && latchkey protect --class complete other"
        try shell.editor("mover", "\(other) && mv other notes && printf 'mine\\n' >> \"$1\"")
        let run = try shell.run("EDITOR=mover latchkey edit notes")
        // The content decides: the opened content is still there, under the same name.
        #expect((run.exit == 0) == isSame, "\(run)")
        let expected = isSame ? "first\nmine\n" : "other"
        #expect(try shell.run("latchkey cat notes").output == expected)
    }

    /// Expects that the error names the only text that is left in memory.
    private func expectKept(_ text: String, _ run: Outcome) throws {
        let left = try shell.left
        let kept = left.filter { FileManager.default.contents(atPath: $0) == Data(text.utf8) }
        #expect(kept.count == 1 && kept.allSatisfy { run.error.contains("it is in \($0)\n") }, "\(run) \(left)")
        // The next edit does not remove it.
        try shell.protect("other\n", "other")
        #expect(try shell.run("EDITOR=true latchkey edit other").exit == 0)
        #expect(kept.allSatisfy { FileManager.default.fileExists(atPath: $0) })
    }

    // MARK: Kept text

    enum End: CaseIterable { case endOfInput, interrupt, hangUp }

    @Test(
        "At the prompt of a lock during the edit, the text is kept and named, however the command ends", .long,
        arguments: End.allCases)
    func locked(_ end: End) throws {
        let (daemon, terminal) = (try DaemonProcess(), try PseudoTerminal())
        defer { daemon.stop() }
        let directory = daemon.directory.path
        try Data("purple monkey dishwasher\n".utf8).write(to: URL(filePath: "\(directory)/passcode"))
        chmod("\(directory)/passcode", 0o600)
        #expect(
            try daemon.client("latchkey", ["passcode", "set", "--passcode-file", "\(directory)/passcode"]).status == 0)
        for (name, protection) in [("notes", "complete"), ("other", "none")] {
            try Data("first\n".utf8).write(to: URL(filePath: "\(directory)/\(name)"))
            let run = try daemon.client("latchkey", ["protect", "--class", protection, "\(directory)/\(name)"])
            try #require(run.status == 0, "\(run)")
        }
        let editor = "\(directory)/locker"
        let script = "#!/bin/sh\nprintf 'more\\n' >> \"$1\"; exec '\(Executable.path("latchkey"))' lock --now\n"
        try Data(script.utf8).write(to: URL(filePath: editor))
        chmod(editor, 0o700)
        // A person does not ignore these signals, and a program that has started the tests may.
        let process = try SpawnedProcess(
            [
                "/bin/sh", "-c", "exec env --default-signal=INT,HUP \"$1\" edit \"$2\" < \"$3\"", "sh",
                Executable.path("latchkey"), "\(directory)/notes", terminal.path,
            ],
            environment: daemon.environment.merging([
                "LATCHKEY_HOME": daemon.home, "PATH": "/usr/bin:/bin", "EDITOR": editor, "SWIFT_BACKTRACE": "enable=no",
            ]) { $1 }, output: "\(directory)/said")
        func said() -> String { (try? String(contentsOfFile: "\(directory)/said", encoding: .utf8)) ?? "" }
        #expect(eventually { said().contains("then press Enter") || !process.isRunning })
        let kept = try #require(
            said().split(separator: "the edited text is in ").dropFirst().first?.split(separator: "\n").first)
        let place = URL(filePath: String(kept)).deletingLastPathComponent()
        defer { try? FileManager.default.removeItem(at: place) }
        switch end {
        case .endOfInput: terminal.type("\u{4}")
        case .interrupt: kill(process.processIdentifier, SIGINT)
        case .hangUp: kill(process.processIdentifier, SIGHUP)
        }
        #expect(process.awaitExit() != 0)
        if end == .endOfInput {
            #expect(said().contains("the edited text was not stored; it is in \(kept)\n"), "\(said())")
        }
        #expect(
            try daemon.client("latchkey", ["edit", "\(directory)/other"], environment: ["EDITOR": "true"]).status == 0)
        #expect(FileManager.default.contents(atPath: String(kept)) == Data("first\nmore\n".utf8), "\(said())")
    }

    @Test(
        "A text that cannot be read back is kept and named", .long,
        arguments: ["truncate -s 67108865 \"$1\"", "rm \"$1\" && mkdir \"$1\" && echo text > \"$1/text\""])
    func unreadable(_ change: String) throws {
        try shell.protect("first\n")
        try shell.editor("changer", change)
        let run = try shell.run("EDITOR=changer latchkey edit notes")
        #expect(run.exit != 0, "\(run)")
        let left = try #require(try shell.left.first)
        let named = try #require(
            run.error.split(separator: "it is in ").dropFirst().first?.split(separator: "\n").first)
        #expect(left.hasPrefix(named), "\(run)")
        #expect(try shell.run("latchkey cat notes").output == "first\n")
        #expect(try shell.run("EDITOR=true latchkey edit notes").exit == 0)
        #expect(try shell.left == [left])
    }

    @Test("A file that an editor saves beside the text at a signal is kept and named; without one nothing is kept")
    func signalled() throws {
        try shell.protect("first\n")
        // As nano does: another file in the directory, and an exit value as after an error.
        for (save, isKept) in [("cp \"$1\" \"$1.save\"; ", true), ("", false)] {
            try shell.editor(
                "waiter", "trap '\(save)exit 1' HUP; : > started; for n in $(seq 6000); do sleep 0.05; done")
            let run = try shell.run(
                """
                rm -f started; EDITOR=waiter latchkey edit notes & edit=$!
                await test -e started
                kill -HUP $edit; wait $edit
                """)
            #expect(run.exit != 0 && run.exit != 99, "\(run)")
            let left = try shell.left
            #expect(left.contains { $0.hasSuffix(".save") } == isKept && left.isEmpty == !isKept, "\(run) \(left)")
            for path in left {
                let directory = URL(filePath: path).deletingLastPathComponent().path
                #expect(run.error.contains("the edited text is in \(directory)\n"), "\(run)")
            }
            try shell.removeLeft()
        }
        #expect(try shell.run("latchkey cat notes").output == "first\n")
    }

    // MARK: Traces of the text

    @Test("An editor's leftovers in its directory are removed, also folders, hidden files and links")
    func folders() throws {
        try shell.protect("first\n")
        try shell.editor(
            "leaver",
            """
            place=$(dirname "$1"); mkdir -p "$place/.undo/deep/er" && cp "$1" "$place/.undo/deep/er/copy"
            cp "$1" "$1~"; ln -s "$1" "$place/link"; ln -s / "$place/.undo/root"; : > "$place/$(printf 'n\\351')"
            printf 'more\\n' >> "$1"
            """)
        let run = try shell.run("EDITOR=leaver latchkey edit notes")
        #expect(run.exit == 0, "\(run)")
        #expect(try shell.left == [])
        #expect(try shell.run("latchkey cat notes").output == "first\nmore\n")
    }

    @Test("After kill -9, the next edit removes the text, but not while the editor still has it")
    func killed() throws {
        try shell.protect("first\n")
        try shell.editor("waiter", #"echo > started; timeout 60 cat go > /dev/null; printf 'late\n' >> "$1""#)
        let run = try shell.run(
            """
            mkfifo started go; EDITOR=waiter latchkey edit notes & edit=$!
            timeout 60 cat started > /dev/null || exit 1
            kill -9 $edit; wait $edit
            EDITOR=true latchkey edit notes || exit 2
            ls "$XDG_RUNTIME_DIR" | grep -q latchkey-edit || exit 3
            echo > go; count=0
            while ls "$XDG_RUNTIME_DIR" | grep -q latchkey-edit; do
                count=$((count + 1)); test $count -lt 300 || exit 4
                EDITOR=true latchkey edit notes || exit 5
            done
            """)
        #expect(run.exit == 0, "\(run)")
        #expect(run.error.contains("removed the text of an edit that was killed"), "\(run)")
        #expect(try shell.left == [])
        #expect(try shell.run("latchkey cat notes").output == "first\n")
    }

    @Test("A file with a non-UTF-8 name is edited")
    func name() throws {
        let run = try shell.run(
            #"""
            name=$(printf 'caf\351'); printf 'first\n' > "$name"; latchkey protect --class complete "$name" || exit 1
            EDITOR=adder latchkey edit "$name" || exit 2
            latchkey cat "$name"; ls | od -An -tx1 | tr -d ' \n' | grep -q 636166e9 || exit 3
            """#, ["adder": #"printf 'more\n' >> "$1""#])
        #expect(run.exit == 0 && run.output.hasSuffix("first\nmore\n"), "\(run)")
        #expect(try shell.left == [])
    }

    // MARK: Editors

    @Test(
        "A known editor is started with options against copies, before those of the person; another one with a warning",
        .long,
        .long,
        arguments: [
            ("vim", "-n|-i|NONE|-c|set nobackup nowritebackup noundofile noswapfile viminfo=|+3", false),
            ("nvim", "-n|-i|NONE|-c|set nobackup nowritebackup noundofile noswapfile shada=|+3", false),
            ("gvim", "-f|-n|-i|NONE|-c|set nobackup nowritebackup noundofile noswapfile viminfo=|+3", false),
            ("nano", "--ignorercfiles|+3", false),
            ("micro", "-config-dir|PLACE/micro|-backup|false|-savehistory|false|+3", false),
            ("joe", "-nobackups|-nodeadjoe|--joe_state|+3", false), ("kak", "-n|+3", false), ("hx", "+3", false),
            ("ed", "+3", false), ("nvi", "+3", false),
            ("code", "--wait|--new-window|--disable-extensions|--user-data-dir|PLACE/code|+3", false),
            (
                "emacs",
                "-Q|--eval|(setq make-backup-files nil auto-save-default nil auto-save-list-file-prefix nil create-lockfiles nil)|+3",
                false
            ),
            ("emacsclient", "+3", true), ("gedit", "+3", true), ("vimdiff", "+3", true),
        ])
    func options(_ name: String, _ expected: String, _ warns: Bool) throws {
        try shell.protect("first\n")
        try shell.editor(
            name,
            """
            for word; do last=$word; done
            { for word; do test "$word" = "$last" || printf '%s|' "$word"; done; } > "$LATCHKEY_HOME/../words"
            printf '%s %s %s' "$TMPDIR" "$PWD" "$EXINIT" > "$LATCHKEY_HOME/../place"; dirname "$last" >> "$LATCHKEY_HOME/../place"
            """)
        let run = try shell.run("EDITOR='\(name) +3' latchkey edit notes")
        #expect(run.exit == 0, "\(run)")
        #expect(run.error.contains("may keep parts") == warns, "\(run)")
        let place = try String(contentsOfFile: "\(shell.directory)/place", encoding: .utf8)
        let memory = try #require(place.split(separator: " ").first.map(String.init))
        #expect(memory.hasPrefix(shell.memory) && place.hasSuffix("\(memory)\n"), "\(place)")
        let words = try String(contentsOfFile: "\(shell.directory)/words", encoding: .utf8)
        #expect(words.replacingOccurrences(of: memory, with: "PLACE") == expected + "|")
        // ed and joe write into the current directory when a connection breaks.
        #expect(place.contains(" \(memory) ") == ["ed", "joe"].contains(name) || name == "nvi", "\(place)")
        if name == "nvi" { #expect(place.contains("set directory=\(memory) recdir=\(memory)"), "\(place)") }
    }

    @Test("An editor behind links of update-alternatives is known by its real name")
    func alternatives() throws {
        try shell.protect("first\n")
        try shell.editor("vim.basic", #"printf '%s|' "$@" > "$LATCHKEY_HOME/../words""#)
        let run = try shell.run(
            """
            ln -s "$PWD/bin/vim.basic" bin/alternative; ln -s "$PWD/bin/alternative" bin/vi
            env -u EDITOR latchkey edit notes
            """)
        #expect(run.exit == 0 && !run.error.contains("may keep"), "\(run)")
        #expect(try String(contentsOfFile: "\(shell.directory)/words", encoding: .utf8).hasPrefix("-n|-i|NONE|"))
    }

    @Test(
        "vim, as its user has configured it, leaves nothing of the text in the home directory",
        .enabled(if: access("/usr/bin/vim", X_OK) == 0, "needs vim"))
    func vim() throws {
        try shell.protect("the xanthous word\n")
        let configuration = """
            mkdir -p home-of-user/undo home-of-user/backup home-of-user/swap; export HOME="$PWD/home-of-user"
            cat > "$HOME/.vimrc" <<'END'
            set nocompatible undofile undodir=~/undo backup writebackup backupdir=~/backup directory=~/swap
            set viminfo='50,<1000,s100,:100,/100
            END
            export VISUAL="/usr/bin/vim -T dumb --not-a-term -c 'normal yy' -c '%s/xanthous/vermilion/' -c 'write' -c 'quit'"
            """
        // Without the options, vim keeps the text: otherwise the test would prove nothing.
        let control = try shell.run(
            """
            \(configuration)
            printf 'the xanthous word\\n' > plain; sh -c "$VISUAL plain" > /dev/null 2>&1; rm plain
            grep -rlE 'xanthous|vermilion' "$HOME"; rm -rf "$HOME"
            """)
        #expect(control.output.contains(".viminfo") && control.output.contains("/undo/"), "\(control)")
        let run = try shell.run(
            """
            \(configuration)
            latchkey edit notes > /dev/null || exit 1
            grep -rlE 'xanthous|vermilion' "$HOME" "$PWD" && exit 2
            latchkey cat notes
            """)
        #expect(run.exit == 0 && run.output.hasSuffix("the vermilion word\n"), "\(run)")
        #expect(try shell.left == [])
    }
}

/// A shell with a keychain, a directory in memory of its own, and editors that are scripts.
struct EditingShell {
    private let shell: Shell
    private let runtime: MemoryDirectory

    static var isAvailable: Bool {
        (try? FileSystem(holding: "/dev/shm"))?.isInMemory == true && access("/dev/shm", W_OK) == 0
    }

    init() throws {
        shell = try Shell()
        runtime = try MemoryDirectory()
        try FileManager.default.createDirectory(atPath: "\(directory)/bin", withIntermediateDirectories: true)
    }

    /// The current directory of the scripts.
    var directory: String { shell.directory.path }
    var memory: String { runtime.path }

    /// The files that are left in memory.
    var left: [String] {
        get throws {
            try FileManager.default.subpathsOfDirectory(atPath: memory).map { "\(memory)/\($0)" }.filter {
                var info = stat()
                return lstat($0, &info) == 0 && info.st_mode & S_IFMT == S_IFREG
            }
        }
    }

    func removeLeft() throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: memory) {
            try FileManager.default.removeItem(atPath: "\(memory)/\(name)")
        }
    }

    func protect(_ text: String, _ name: String = "notes") throws {
        try Data(text.utf8).write(to: URL(filePath: "\(directory)/\(name)"))
        let run = try run("latchkey protect --class complete \(name)")
        try #require(run.exit == 0, "\(run)")
    }

    /// Makes a program that is the shell script.
    func editor(_ name: String, _ script: String) throws {
        let path = "\(directory)/bin/\(name)"
        try Data("#!/bin/sh\n\(script)\n".utf8).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    }

    func run(_ script: String, _ editors: [String: String] = [:]) throws -> Outcome {
        for (name, text) in editors { try editor(name, text) }
        return try shell.run(
            "cd \"$(dirname \"$LATCHKEY_HOME\")\" && export XDG_RUNTIME_DIR='\(memory)' PATH=\"$PWD/bin:$PATH\" && \(script)"
        )
    }

    /// A directory of a tmpfs. It is removed at the end.
    private final class MemoryDirectory {
        let path: String

        init() throws {
            var template = Array("/dev/shm/latchkey-test.XXXXXX".utf8CString)
            guard mkdtemp(&template) != nil else { throw SystemError.last("create a directory in", path: "/dev/shm") }
            path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }

        deinit { try? FileManager.default.removeItem(atPath: path) }
    }
}
