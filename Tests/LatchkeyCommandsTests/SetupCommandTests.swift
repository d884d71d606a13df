// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import KeychainModel
import KeychainTesting
@testable import LatchkeyCommands
import LinuxSystem
import Synchronization
import Testing

/// `latchkey setup`, on machines that are directories.
@Suite("latchkey setup")
struct SetupCommandTests {
    private let world: SetupWorld

    init() throws { world = try SetupWorld() }

    @Test("An empty machine has no use for anything but a pinentry")
    func empty() {
        let states = Dictionary(uniqueKeysWithValues: world.steps.map { ($0.name, $0.state) })
        #expect(world.steps.map(\.name) == SetupPlan.names)
        #expect(states["pinentry"] == .manual)
        #expect(states.filter { $0.value != .notApplicable }.count == 1, "\(states)")
        #expect(world.steps.allSatisfy { !$0.detail.isEmpty })
    }

    @Test(
        "Completions are written for bash and fish, where the shell looks for them, and undone", .long,
        arguments: [
            ("bash", "data/bash-completion/completions/latchkey"), ("fish", "config/fish/completions/latchkey.fish"),
        ])
    func completions(_ shell: String, _ file: String) throws {
        var machine = world.machine
        machine.shell = shell
        let shown = world.run([], on: machine)
        #expect(shown.exit == 0 && shown.output.contains("useful          completions: \(shell) completes"))
        #expect(shown.output.contains("write \(world.path)/\(file) (") && shown.error.hasPrefix("hint: "))
        #expect(try world.files() == [])
        #expect(world.run(["--apply", "--dry-run"], on: machine).exit == 0)
        #expect(try world.files() == [])
        let applied = world.run(["--apply", "completions"], on: machine)
        #expect(applied.exit == 0 && applied.output.hasSuffix("                  done\n"), "\(applied)")
        #expect(try world.files() == [file, "state/setup.json"])
        #expect(try world.text(file).contains("latchkey"))
        #expect(world.run([], on: machine).output.contains("done            completions: "))
        let undone = world.run(["--undo"], on: machine)
        #expect(undone.exit == 0 && undone.output.hasSuffix("                  undone\n"), "\(undone)")
        // The directories that were made for it are gone as well.
        let outermost = file.prefix { $0 != "/" }
        #expect(try world.files() == [] && !FileManager.default.fileExists(atPath: "\(world.path)/\(outermost)"))
        #expect(world.run(["--undo"], on: machine).output == "there is nothing to undo\n")
    }

    @Test("A file of another program is not replaced, and one that was changed since then is not removed")
    func foreign() throws {
        var machine = world.machine
        machine.shell = "bash"
        let file = "data/bash-completion/completions/latchkey"
        try world.write("another program's\n", to: file)
        let outcome = world.run(["--apply"], on: machine)
        #expect(outcome.exit == 0 && outcome.output.contains("by hand         completions: "))
        #expect(try world.text(file) == "another program's\n")
        try FileManager.default.removeItem(atPath: "\(world.path)/\(file)")
        #expect(world.run(["--apply"], on: machine).exit == 0)
        try world.write("changed\n", to: file)
        #expect(world.run(["--undo"], on: machine).output.contains("changed since then, and left as it is"))
        #expect(try world.text(file) == "changed\n")
        #expect(try world.files() == [file])
    }

    @Test(
        "An obstacle in the place of a file is named with the command to type, and stays",
        arguments: [
            ("pipe", "is a pipe"), ("directory", "is a directory"), ("link", "is a symbolic link that leads nowhere"),
            ("long", "is longer than 1048576 bytes"),
        ])
    func occupied(_ kind: String, _ finding: String) throws {
        var machine = world.machine
        machine.shell = "bash"
        let file = "data/bash-completion/completions/latchkey"
        try world.occupy(file, with: kind)
        let outcome = world.run(["--apply"], on: machine)
        #expect(outcome.exit == 0 && outcome.error == "", "\(outcome)")
        #expect(outcome.output.contains("by hand         completions: its file cannot be written: "), "\(outcome)")
        #expect(outcome.output.contains("\(world.path)/\(file) \(finding)\n"), "\(outcome)")
        #expect(outcome.output.contains("mv '\(world.path)/\(file)' '\(world.path)/\(file).old'\n"))
        #expect(world.run(["--undo"], on: machine).output == "there is nothing to undo\n")
        // The Secret Service's file, in the same way.
        try world.write("", to: "bin/latchkey-secret-service", mode: 0o755)
        try world.occupy("data/dbus-1/services/org.freedesktop.secrets.service", with: kind)
        #expect(world.step("secret-service")?.state == .manual)
    }

    @Test(
        "An obstacle in the place of a directory is named, and stays",
        arguments: [("file", "is not a directory"), ("link", "is a symbolic link that leads nowhere")])
    func occupiedDirectory(_ kind: String, _ finding: String) throws {
        var machine = world.machine
        machine.shell = "fish"
        try world.occupy("config/fish", with: kind)
        let step = try #require(world.step("completions", on: machine))
        #expect(step.state == .manual && step.detail.hasSuffix("\(world.path)/config/fish \(finding)"), "\(step)")
        #expect(step.commands.first == "mv '\(world.path)/config/fish' '\(world.path)/config/fish.old'")
    }

    @Test("Where zsh is the shell, the command for all users is shown, and nothing is written")
    func zsh() throws {
        var machine = world.machine
        machine.shell = "zsh"
        let command = "sudo tee /usr/local/share/zsh/site-functions/_latchkey > /dev/null"
        #expect(world.run(["--apply"], on: machine).output.contains(command))
        #expect(try world.files() == [])
        try world.write("#compdef\n", to: "root/usr/share/zsh/vendor-completions/_latchkey")
        #expect(world.step("completions", on: machine)?.state == .done)
    }

    @Test("The socket of latchkeyd is enabled where systemd runs a manager for the user, and disabled by --undo")
    func daemon() throws {
        #expect(world.step("daemon")?.state == .notApplicable)
        try world.write("", to: "run/systemd/private")
        #expect(world.step("daemon")?.detail.contains("is not installed") == true)
        try world.write("", to: "root/usr/lib/systemd/user/latchkeyd.socket")
        #expect(world.step("daemon")?.state == .useful)
        #expect(world.run(["--apply", "daemon"]).exit == 0)
        #expect(world.commands == ["systemctl --user enable --now latchkeyd.socket"])
        try world.write("", to: "bin/latchkeyd", mode: 0o755)
        #expect(world.run(["--undo", "secret-service"]).output == "there is nothing to undo\n")
        #expect(world.run(["--undo"]).exit == 0)
        #expect(
            world.commands.dropFirst() == [
                "systemctl --user disable --now latchkeyd.socket", "systemctl --user stop latchkeyd.service",
                "\(world.path)/bin/latchkeyd --user --release",
            ])
        try world.write("", to: "config/systemd/user/sockets.target.wants/latchkeyd.socket")
        #expect(world.step("daemon")?.state == .done)
    }

    @Test("A command that fails is reported, and there is nothing to undo")
    func failure() throws {
        try world.write("", to: "run/systemd/private")
        try world.write("", to: "root/usr/lib/systemd/user/latchkeyd.socket")
        var machine = world.machine
        machine.run = { _ in 1 }
        let outcome = world.run(["--apply"], on: machine)
        #expect(outcome.exit == 53)
        #expect(
            outcome.error
                == "latchkey: systemctl --user enable --now latchkeyd.socket ended with 1\n"
                + "hint: systemctl --user enable --now latchkeyd.socket\n")
        #expect(world.run(["--undo"], on: machine).output == "there is nothing to undo\n")
    }

    @Test("A unit that is enabled, although the command has failed, is named, and --undo disables it")
    func enabledAndFailed() throws {
        try world.write("", to: "run/systemd/private")
        try world.write("", to: "root/usr/lib/systemd/user/latchkeyd.socket")
        let link = "config/systemd/user/sockets.target.wants/latchkeyd.socket"
        var machine = world.machine
        machine.run = { [world] words in
            if words.contains("enable") { #expect(throws: Never.self) { try world.write("", to: link) } }
            return words.contains("enable") ? 1 : 0
        }
        let outcome = world.run(["--apply"], on: machine)
        #expect(outcome.exit == 53)
        #expect(
            outcome.error
                == "latchkey: systemctl --user enable --now latchkeyd.socket ended with 1, but latchkeyd.socket is enabled\n"
                + "hint: latchkey setup --undo daemon\n")
        #expect(world.run(["--undo"]).exit == 0)
        #expect(world.commands.first == "systemctl --user disable --now latchkeyd.socket")
    }

    @Test("In the home directory of another user, the plan is shown, and nothing is changed", arguments: [false, true])
    func otherHome(_ isRoot: Bool) throws {
        let home = "\(world.path)/home"
        #expect(mkdir(home, 0o755) == 0)
        var machine = world.machine
        machine.shell = "bash"
        #expect(world.run(["--apply"], on: machine).exit == 0)
        let files = try world.files()
        var owner = geteuid()
        if !isRoot {
            machine.user += 1
        } else if owner != 0 {
            machine.user = 0
        } else {
            owner = 1
            #expect(chown(home, owner, owner) == 0)
        }
        for words in [["--apply"], ["--undo"], ["--apply", "--json"]] {
            let outcome = world.run(words, on: machine)
            #expect(outcome.exit == 53 && outcome.output == "", "\(outcome)")
            let hint = isRoot ? "run it as that user, without sudo" : "export HOME="
            #expect(
                outcome.error.hasPrefix(
                    "latchkey: the home directory \(home) belongs to user \(owner), and this is user \(machine.user)\n"
                        + "hint: \(hint)"), "\(outcome)")
        }
        #expect(try world.files() == files)
        for words in [[], ["--apply", "--dry-run"], ["--undo", "--dry-run"]] {
            #expect(world.run(words, on: machine).exit == 0, "\(words)")
        }
    }

    @Test("XDG's directories of another user are refused as well")
    func otherDirectories() throws {
        var machine = world.machine
        machine.home = "/"
        machine.user = 0
        for path in [\SetupMachine.configDirectory, \.dataDirectory] {
            var other = machine
            let directory = "\(world.path)/other"
            other[keyPath: path] = directory
            if mkdir(directory, 0o755) == 0 { #expect(geteuid() != 0 || chown(directory, 1, 1) == 0) }
            let outcome = world.run(["--apply"], on: other)
            #expect(outcome.exit == 53 && outcome.output == "", "\(outcome)")
            #expect(outcome.error.contains(" \(directory) belongs to user \(geteuid() == 0 ? 1 : geteuid()), "))
        }
        #expect(try world.files() == [])
    }

    @Test("Two processes that change the record at once wait for each other")
    func locks() throws {
        var machine = world.machine
        machine.shell = "bash"
        let record = "\(world.path)/state"
        let found = Mutex<[Bool]>([])
        machine.create = { (path, content) throws(SystemError) in
            let isHeld = try DirectoryLock(ifFree: record, .exclusive) == nil
            found.withLock { $0.append(isHeld) }
            try NewFile.create(path, content: content, mode: 0o600)
        }
        let planned = try #require(world.step("completions", on: machine))
        #expect(world.run(["--apply"], on: machine).exit == 0)
        #expect(found.withLock { $0 } == [true])
        #expect(try DirectoryLock(ifFree: record, .exclusive) != nil)
        // Another process's change since the plan was made is neither repeated nor a failure.
        let before = try SetupRecord.read(in: record)
        try SetupWork(machine: machine, stateDirectory: record).apply(planned)
        #expect(try SetupRecord.read(in: record) == before && before.changes.count == 1)
        #expect(world.run(["--undo"]).exit == 0)
        #expect(try world.files() == [])
    }

    @Test("A step that fails does not stop the next ones: each failure is reported, also in JSON")
    func failures() throws {
        try world.write("", to: "bin/latchkey-secret-service", mode: 0o755)
        var machine = world.machine
        machine.shell = "bash"
        machine.create = { (path, content) throws(SystemError) in
            guard path.hasSuffix(".service") else { throw SystemError("write", path: path, code: ENOSPC) }
            try NewFile.create(path, content: content, mode: 0o600)
        }
        let file = "data/dbus-1/services/org.freedesktop.secrets.service"
        let outcome = world.run(["--apply"], on: machine)
        #expect(outcome.exit == 222 && outcome.output.contains("                  failed\n"), "\(outcome)")
        #expect(outcome.error.hasPrefix("latchkey: cannot write \(world.path)/data/bash-completion/"), "\(outcome)")
        #expect(try world.files() == [file, "state/setup.json"])
        #expect(world.run(["--undo"], on: machine).exit == 0)
        let json = world.run(["--apply", "--json"], on: machine)
        #expect(json.exit == 222 && json.error == outcome.error)
        let report = try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any]
        let steps = try #require(report?["steps"] as? [[String: Any]])
        let failed = try #require(steps.first { $0["name"] as? String == "completions" })
        #expect(failed["applied"] as? Bool == false)
        #expect((failed["error"] as? String)?.hasPrefix("cannot write ") == true)
        let applied = try #require(steps.first { $0["name"] as? String == "secret-service" })
        #expect(applied["applied"] as? Bool == true && applied["error"] == nil)
    }

    @Test("A change that cannot be undone does not stop the others, and stays in the record")
    func undoFailures() throws {
        try world.write("", to: "run/systemd/private")
        try world.write("", to: "root/usr/lib/systemd/user/latchkeyd.socket")
        var machine = world.machine
        machine.shell = "bash"
        #expect(world.run(["--apply"], on: machine).exit == 0)
        let file = "data/bash-completion/completions/latchkey"
        #expect(try world.files() == [file, "state/setup.json"])
        machine.run = { _ in 1 }
        let undone = world.run(["--undo"], on: machine)
        let words = undone.output.split(separator: "\n").filter { $0.hasPrefix(" ") }.map { $0.dropFirst(18) }
        #expect(undone.exit == 53 && words == ["failed", "undone"], "\(undone)")
        #expect(undone.error.hasPrefix("latchkey: systemctl --user disable --now latchkeyd.socket ended with 1\n"))
        #expect(try world.files() == ["state/setup.json"])
        let json = world.run(["--undo", "--json"], on: machine)
        let reports = try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [[String: Any]]
        #expect(json.exit == 53 && reports?.count == 1)
        #expect(reports?.first?["result"] as? String == "failed")
        #expect((reports?.first?["error"] as? String)?.hasSuffix("ended with 1") == true)
        #expect(world.run(["--undo"]).exit == 0)
        #expect(try world.files() == [])
    }

    @Test("A file that cannot be written leaves nothing: no part of it, no directory, and nothing to undo")
    func fullDisk() throws {
        var machine = world.machine
        machine.shell = "bash"
        machine.create = { (path, _) throws(SystemError) in
            throw SystemError("write", path: path, code: ENOSPC)
        }
        let outcome = world.run(["--apply"], on: machine)
        let hint = "hint: free some space; the file is as it was\n"
        #expect(outcome.exit == 222 && outcome.error.hasSuffix(": No space left on device\n\(hint)"), "\(outcome)")
        #expect(try world.files() == [])
        #expect(!FileManager.default.fileExists(atPath: "\(world.path)/data"))
        #expect(world.run(["--undo"], on: machine).output == "there is nothing to undo\n")
    }

    @Test("A file that is there, although the command has failed, is named, and --undo removes it")
    func writtenAndFailed() throws {
        var machine = world.machine
        machine.shell = "bash"
        machine.create = { [world] (path, content) throws(SystemError) in
            #expect(throws: Never.self) { try Data(content).write(to: URL(filePath: path)) }
            throw SystemError("synchronise", path: world.path, code: EIO)
        }
        let outcome = world.run(["--apply"], on: machine)
        let file = "data/bash-completion/completions/latchkey"
        #expect(outcome.exit == 220 && outcome.error.contains(", but \(world.path)/\(file) is there\n"), "\(outcome)")
        #expect(try world.files() == [file, "state/setup.json"])
        #expect(world.run(["--undo"], on: machine).output.hasSuffix("                  undone\n"))
        #expect(try world.files() == [])
    }

    @Test("The directories of an interrupted --apply are removed by --undo, also after another --apply")
    func interrupted() throws {
        var machine = world.machine
        machine.shell = "bash"
        let file = "data/bash-completion/completions/latchkey"
        for isRepeated in [false, true] {
            // A crash before the file leaves the record and the directories.
            #expect(world.run(["--apply"], on: machine).exit == 0)
            try FileManager.default.removeItem(atPath: "\(world.path)/\(file)")
            if isRepeated { #expect(world.run(["--apply"], on: machine).exit == 0) }
            // The draft of a file system without unnamed files.
            try world.write("#", to: "data/bash-completion/completions/.latchkey-draft-1")
            let undone = world.run(["--undo"], on: machine)
            #expect(undone.output.hasSuffix(isRepeated ? "  undone\n" : "  not there any more\n"), "\(undone)")
            #expect(undone.output.split(separator: "\n").count == 2, "one change: \(undone)")
            #expect(try world.files() == [])
            #expect(!FileManager.default.fileExists(atPath: "\(world.path)/data"))
        }
    }

    @Test("A link to a file of the same content is of another program, and stays")
    func linked() throws {
        var machine = world.machine
        machine.shell = "bash"
        let file = "data/bash-completion/completions/latchkey"
        #expect(world.run(["--apply"], on: machine).exit == 0)
        try FileManager.default.moveItem(atPath: "\(world.path)/\(file)", toPath: "\(world.path)/moved")
        #expect(symlink("\(world.path)/moved", "\(world.path)/\(file)") == 0)
        #expect(world.run(["--undo"], on: machine).output.contains("changed since then, and left as it is"))
        #expect(try world.files() == [file, "moved"])
    }

    @Test("With the machine's latchkeyd, the agent is enabled, and no daemon of the user")
    func agent() throws {
        try world.write("", to: "root/run/latchkey/socket")
        try world.write("", to: "run/systemd/private")
        for unit in ["latchkeyd.socket", "latchkey-agent.service"] {
            try world.write("", to: "root/usr/lib/systemd/user/\(unit)")
        }
        #expect(world.step("daemon")?.state == .notApplicable && world.step("agent")?.state == .useful)
    }

    @Test("The session bus starts the Secret Service, unless another keyring has its place: that one is only named")
    func secretService() throws {
        try world.write("", to: "bin/latchkey-secret-service", mode: 0o755)
        let file = "data/dbus-1/services/org.freedesktop.secrets.service"
        let shown = world.run(["secret-service"])
        #expect(shown.output.contains("                    Exec=\(world.path)/bin/latchkey-secret-service\n"))
        #expect(world.run(["--apply", "secret-service"]).exit == 0)
        #expect(try world.text(file).hasPrefix("[D-BUS Service]\nName=org.freedesktop.secrets\n"))
        #expect(world.step("secret-service")?.state == .done)
        #expect(world.run(["--undo"]).exit == 0)
        // A file of an installation that is gone starts nothing.
        try world.write("[D-BUS Service]\nName=org.freedesktop.secrets\nExec=/gone/latchkey-secret-service\n", to: file)
        let outdated = try #require(world.step("secret-service"))
        #expect(outdated.state == .manual && outdated.detail.contains("starts a program that is not here"))
    }

    @Test("Another keyring than gnome-keyring is only named: a person changes its setting")
    func otherKeyring() throws {
        try world.write("", to: "bin/latchkey-secret-service", mode: 0o755)
        let owner = SecretServiceStatus.Owner(process: 7, program: "/usr/bin/keepassxc", isLatchkey: false)
        world.service.withLock { $0 = SecretServiceStatus(owner: owner) }
        let step = try #require(world.step("secret-service"))
        #expect(step.state == .manual && step.actions.isEmpty)
        #expect(step.detail.hasPrefix("/usr/bin/keepassxc (process 7) is the Secret Service: turn that off"))
        #expect(step.commands.first == "latchkey import --from gnome-keyring")
        #expect(world.run(["--apply", "secret-service"]).exit == 0)
        #expect(try world.files() == [])
        var status = SecretServiceStatus(owner: nil)
        status.error = "no answer"
        world.service.withLock { $0 = status }
        #expect(world.step("secret-service")?.detail == "the session bus was not asked: no answer")
    }

    @Test("The place of gnome-keyring is taken only if the step is named, and only for the keychain of the session")
    func named() throws {
        var machine = try world.desktop()
        let files = try world.files()
        #expect(world.step("secret-service", on: machine)?.commands == ["latchkey setup --apply secret-service"])
        #expect(world.run(["--apply"], on: machine).exit == 0)
        machine.redirections = ["LATCHKEY_HOME"]
        let outcome = world.run(["--apply", "secret-service"], on: machine)
        #expect(outcome.output.contains("env -u LATCHKEY_HOME latchkey setup --apply secret-service"), "\(outcome)")
        #expect(try world.files() == files && world.commands == [])
    }

    @Test("gnome-keyring: its items first, then its starts, then its name; --undo gives all of it back, the name last")
    func gnomeKeyring() throws {
        let machine = try world.desktop()
        let files = try world.files()
        #expect(world.run(["--apply", "secret-service"], on: machine).exit == 0)
        let program = "\(world.path)/bin/latchkey"
        #expect(
            world.commands == [
                "\(program) import --from gnome-keyring", "\(program) import --from gnome-keyring --verify",
                "systemctl --user is-active --quiet gnome-keyring-daemon.socket",
                "systemctl --user is-active --quiet gnome-keyring-daemon.service",
                "systemctl --user mask --now gnome-keyring-daemon.socket gnome-keyring-daemon.service", "end 77",
                "start",
                "/usr/bin/gnome-keyring-daemon --start --components=ssh",
            ])
        let hidden = "config/autostart/gnome-keyring-secrets.desktop"
        #expect(try world.text(hidden).contains("\nHidden=true\n"))
        #expect(try world.text("data/dbus-1/services/org.gnome.keyring.service").hasSuffix("\nExec=/bin/false\n"))
        let service = "data/dbus-1/services/org.freedesktop.secrets.service"
        #expect(try world.text(service).hasSuffix("\nExec=\(world.path)/bin/latchkey-secret-service\n"))
        #expect(world.step("secret-service", on: machine)?.state == .done)

        let undone = world.run(["--undo"], on: machine)
        #expect(undone.exit == 0, "\(undone)")
        #expect(
            world.commands.suffix(4) == [
                "systemctl --user unmask gnome-keyring-daemon.socket gnome-keyring-daemon.service",
                "systemctl --user start gnome-keyring-daemon.service gnome-keyring-daemon.socket", "end 88", "start",
            ])
        #expect(world.service.withLock { $0?.owner?.isGNOME } == true)
        #expect(try world.files() == files)
    }

    @Test(
        "The parts of gnome-keyring that ended with its unit are started again, also if the name has a new owner",
        arguments: [true, false])
    func endedByUnit(_ hasNewOwner: Bool) throws {
        var machine = try world.desktop()
        let run = machine.run
        machine.run = { words throws(SystemError) in
            if words.contains("mask") {
                self.world.service.withLock {
                    $0 = SecretServiceStatus(owner: hasNewOwner ? SetupWorld.latchkey : nil)
                }
            }
            return try run(words)
        }
        #expect(world.run(["--apply", "secret-service"], on: machine).exit == 0)
        #expect(world.commands.last == "gnome-keyring-daemon --start --components=ssh", "\(world.commands)")
        #expect(!world.commands.contains { $0.hasPrefix("end") })
    }

    @Test(
        "If the items of gnome-keyring are not all in the keychain, nothing else is done",
        arguments: ["import --from gnome-keyring", "import --from gnome-keyring --verify"])
    func itemsMissing(_ failing: String) throws {
        var machine = try world.desktop()
        let files = try world.files()
        let run = machine.runShowingErrors
        machine.runShowingErrors = { words throws(SystemError) in
            let status = try run(words)
            return words.dropFirst().joined(separator: " ") == failing ? 1 : status
        }
        let outcome = world.run(["--apply", "secret-service"], on: machine)
        #expect(outcome.exit != 0 && outcome.error.contains("does not have every item of gnome-keyring"), "\(outcome)")
        #expect(!world.commands.contains { $0.contains("systemctl") || $0.hasPrefix("end") })
        #expect(try world.files() == files)
    }

    @Test("If latchkey-secret-service does not start, everything is undone at once, and gnome-keyring is back")
    func serviceMissing() throws {
        var machine = try world.desktop()
        let files = try world.files()
        let start = machine.startSecretService
        machine.startSecretService = { () throws(KeychainError) in
            // With the file, the bus starts a program that ends at once.
            access("\(self.world.path)/data/dbus-1/services/org.freedesktop.secrets.service", F_OK) == 0
                ? SecretServiceStatus(owner: nil) : try start()
        }
        let outcome = world.run(["--apply", "secret-service"], on: machine)
        #expect(outcome.exit != 0 && outcome.error.contains("has started nothing"), "\(outcome)")
        #expect(outcome.error.contains("the changes before it were undone"), "\(outcome)")
        #expect(world.service.withLock { $0?.owner?.isGNOME } == true)
        #expect(try world.files() == files)
        #expect(world.run(["--undo"], on: machine).output == "there is nothing to undo\n")
    }

    @Test("A gnome-keyring that is installed and does not run is started by its import, and then its place is taken")
    func startedByImport() throws {
        var machine = try world.desktop()
        world.service.withLock { $0 = SecretServiceStatus(owner: nil) }
        let run = machine.runShowingErrors
        machine.runShowingErrors = { words throws(SystemError) in
            self.world.service.withLock { $0 = SecretServiceStatus(owner: SetupWorld.gnome) }
            return try run(words)
        }
        try world.write("", to: "data/keyrings/login.keyring")
        #expect(world.run(["--apply", "secret-service"], on: machine).exit == 0)
        #expect(world.service.withLock { $0?.owner?.isLatchkey } == true)
        #expect(world.commands.contains("end 77"))
    }

    @Test("Where latchkey-secret-service answers already, nothing is imported, and the next session starts it too")
    func answersAlready() throws {
        let machine = try world.desktop()
        world.service.withLock { $0 = SecretServiceStatus(owner: SetupWorld.latchkey) }
        try world.write("", to: "data/keyrings/login.keyring")
        #expect(world.run(["--apply", "secret-service"], on: machine).exit == 0)
        #expect(!world.commands.contains { $0.contains("--from") || $0.hasPrefix("end") })
        #expect(world.step("secret-service", on: machine)?.state == .done)
    }

    @Test("A helper of git or docker is proposed, and one that is set stays")
    func helpers() throws {
        for program in ["git", "docker", "docker-credential-secretservice"] {
            try world.write("", to: "root/usr/bin/\(program)", mode: 0o755)
        }
        try world.write("", to: "root/usr/lib/git-core/git-credential-libsecret", mode: 0o755)
        #expect(world.step("git")?.state == .manual && world.step("docker")?.state == .manual)
        #expect(world.run(["--apply"]).exit == 0)
        #expect(try world.files() == [])
        try world.write("[credential]\n\thelper = store\n", to: "home/.gitconfig")
        try world.write("{\"credsStore\": \"pass\"}", to: "home/.docker/config.json")
        #expect(world.step("git")?.state == .notApplicable && world.step("docker")?.state == .notApplicable)
        try world.write("[credential]\n\thelper = /x/git-credential-libsecret\n", to: "home/.gitconfig")
        try world.write("{\"credsStore\": \"secretservice\"}", to: "home/.docker/config.json")
        #expect(world.step("git")?.state == .done && world.step("docker")?.state == .done)
    }

    @Test("Login, TPM, pinentry and other keyrings are shown with commands to type")
    func byHand() throws {
        try world.write("", to: "root/usr/share/pam-configs/latchkey")
        #expect(world.step("login")?.commands == ["sudo pam-auth-update --enable latchkey"])
        try world.write("auth optional pam_latchkey.so\n", to: "root/etc/pam.d/common-auth")
        #expect(world.step("login")?.state == .done)
        try world.write("", to: "root/usr/bin/pinentry-curses", mode: 0o755)
        #expect(world.step("pinentry")?.state == .done)
        try world.write("", to: "root/dev/tpmrm0")
        #expect(world.step("tpm")?.state == .done)
        try tpmOfGroup()
        try world.write("", to: "data/keyrings/login.keyring")
        #expect(world.step("import")?.commands == ["latchkey import --from gnome-keyring --dry-run"])
    }

    /// Root can use every device, and another user gives a file to no other group.
    private func tpmOfGroup() throws {
        let device = "\(world.path)/root/dev/tpmrm0"
        guard geteuid() == 0 else {
            #expect(chmod(device, 0) == 0)
            #expect(world.step("tpm")?.commands == ["sudo apt install tpm-udev"])
            return
        }
        var machine = world.machine
        for (group, mode, expected) in [(0, 0o660, nil), (1, 0o600, nil), (1, 0o660, "daemon")]
            as [(gid_t, mode_t, String?)]
        {
            #expect(chown(device, 0, group) == 0 && chmod(device, mode) == 0)
            #expect(machine.systemGroup(thatUses: "/dev/tpmrm0") == expected)
        }
        machine.root = "\(world.path)/missing"
        #expect(machine.systemGroup(thatUses: "/dev/tpmrm0") == nil)
    }

    @Test("JSON has every step, with the content of a file")
    func json() throws {
        var machine = world.machine
        machine.shell = "bash"
        let text = Data(world.run(["--json"], on: machine).output.utf8)
        let report = try #require(try JSONSerialization.jsonObject(with: text) as? [String: Any])
        let steps = try #require(report["steps"] as? [[String: Any]])
        #expect(steps.map { $0["name"] as? String } == SetupPlan.names)
        let actions = try #require(steps.first?["actions"] as? [[String: Any]])
        #expect((actions.first?["content"] as? String)?.contains("latchkey") == true)
        #expect(steps.first?["applied"] as? Bool == false)
    }

    @Test("--apply and --undo exclude each other, and a step must have one of the names")
    func usage() throws {
        let keychain = try TestKeychain(.ephemeral)
        for line in ["setup --apply --undo", "setup bogus"] {
            #expect(keychain.latchkey(line).exit == 2, "\(line)")
        }
    }

    @Test("The command shows the steps of this machine, and changes nothing")
    func process() throws {
        let outcome = try Shell().run("HOME=\"$LATCHKEY_HOME\" latchkey setup && ! ls -d \"$LATCHKEY_HOME\"")
        #expect(outcome.exit == 0, "\(outcome)")
        for name in SetupPlan.names { #expect(outcome.output.contains(" \(name): "), "\(outcome)") }
    }
}

/// A user and a machine in a directory.
private final class SetupWorld: Sendable {
    static let latchkey = SecretServiceStatus.Owner(
        process: 88, program: "/usr/libexec/latchkey/latchkey-secret-service", isLatchkey: true)
    static let gnome = SecretServiceStatus.Owner(
        process: 77, program: "/usr/bin/gnome-keyring-daemon", isLatchkey: false)

    private let directory: TemporaryDirectory
    private let ran = Mutex<[String]>([])
    /// The Secret Service of the session bus; nil without a bus.
    let service = Mutex<SecretServiceStatus?>(nil)

    var path: String { directory.path }
    /// The commands that were run.
    var commands: [String] { ran.withLock { $0 } }
    var steps: [SetupStep] { SetupPlan(machine: machine).steps }

    init() throws { directory = try TemporaryDirectory() }

    var machine: SetupMachine {
        SetupMachine(
            root: "\(path)/root", home: "\(path)/home", configDirectory: "\(path)/config",
            dataDirectory: "\(path)/data", runtimeDirectory: "\(path)/run", executable: "\(path)/bin/latchkey",
            run: { words in
                self.ran.withLock { $0.append(words.joined(separator: " ")) }
                return 0
            },
            runShowingErrors: { words in
                self.ran.withLock { $0.append(words.joined(separator: " ")) }
                return 0
            }, secretService: { self.service.withLock { $0 } },
            startSecretService: {
                self.ran.withLock { $0.append("start") }
                return self.service.withLock { status in
                    let file = "\(self.path)/data/dbus-1/services/org.freedesktop.secrets.service"
                    if status?.owner == nil {
                        status = SecretServiceStatus(owner: access(file, F_OK) == 0 ? Self.latchkey : Self.gnome)
                    }
                    return status ?? SecretServiceStatus(owner: nil)
                }
            },
            end: { process in
                self.ran.withLock { $0.append("end \(process)") }
                self.service.withLock { $0 = SecretServiceStatus(owner: nil) }
            })
    }

    /// A GNOME desktop with a running gnome-keyring that has an agent for SSH keys.
    func desktop() throws -> SetupMachine {
        try write("", to: "bin/latchkey-secret-service", mode: 0o755)
        for name in ["service", "socket"] {
            try write("", to: "root/usr/lib/systemd/user/gnome-keyring-daemon.\(name)")
        }
        try write("", to: "root/etc/xdg/autostart/gnome-keyring-secrets.desktop")
        for name in ["org.freedesktop.secrets", "org.gnome.keyring"] {
            try write(
                "[D-BUS Service]\nName=\(name)\nExec=/usr/bin/gnome-keyring-daemon --start\n",
                to: "root/usr/share/dbus-1/services/\(name).service")
        }
        for name in ["systemd/private", "keyring/ssh"] { try write("", to: "run/\(name)") }
        service.withLock { $0 = SecretServiceStatus(owner: Self.gnome) }
        return machine
    }

    func step(_ name: String, on machine: SetupMachine? = nil) -> SetupStep? {
        SetupPlan(machine: machine ?? self.machine).steps.first { $0.name == name }
    }

    func run(_ words: [String], on machine: SetupMachine? = nil) -> Outcome {
        let io = TestIO()
        let session = CommandSession(io: io, program: .latchkey)
        do {
            let command = try SetupCommand.parse(words)
            do throws(CommandFailure) {
                try command.run(on: machine ?? self.machine, recordingIn: "\(path)/state", in: session)
                return Outcome(exit: 0, io)
            } catch {
                session.report(error, of: "setup", as: .latchkey)
                return Outcome(exit: Int32(UInt8(truncatingIfNeeded: error.status)), io)
            }
        } catch {
            return Outcome(exit: 2, io)
        }
    }

    func write(_ text: String, to file: String, mode: Int = 0o644) throws {
        let url = URL(filePath: "\(path)/\(file)")
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        _ = FileManager.default.createFile(
            atPath: url.path, contents: Data(text.utf8), attributes: [.posixPermissions: mode])
    }

    /// Puts something at a path where a file would be.
    func occupy(_ file: String, with kind: String) throws {
        let place = "\(path)/\(file)"
        try FileManager.default.createDirectory(
            at: URL(filePath: place).deletingLastPathComponent(), withIntermediateDirectories: true)
        switch kind {
        case "pipe": #expect(mkfifo(place, 0o600) == 0)
        case "directory": #expect(mkdir(place, 0o755) == 0)
        case "link": #expect(symlink("\(path)/missing", place) == 0)
        case "long": try write(String(repeating: "#", count: (1 << 20) + 1), to: file)
        default: try write("", to: file)
        }
    }

    func text(_ file: String) throws -> String { try String(contentsOfFile: "\(path)/\(file)", encoding: .utf8) }

    /// The files that a user has, apart from those of the system.
    func files() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: path).filter { name in
            var isDirectory: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: "\(path)/\(name)", isDirectory: &isDirectory)
            return !isDirectory.boolValue && !["root", "run", "bin", "home"].contains(name.prefix { $0 != "/" })
        }.sorted()
    }
}
