// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import KeychainModel
internal import LatchkeyService
internal import LinuxSystem

/// Makes the changes of steps, and undoes them.
struct SetupWork {
    let machine: SetupMachine
    /// Where the record is.
    let stateDirectory: String

    // MARK: Doing

    /// Does one step. The record is written before the change, so that `--undo` finds it after a crash, and
    /// loses a change that has failed only if nothing of it is left.
    func apply(_ step: SetupStep) throws(KeychainError) {
        try whileLocked { () throws(KeychainError) in
            do throws(KeychainError) {
                for action in step.actions { try apply(action, of: step) }
            } catch {
                // Without the Secret Service that was there before, desktop programs would have none.
                guard step.takesName else { throw error }
                throw undoing(step, after: error)
            }
        }
    }

    /// Undoes the changes of a step, and returns the error with the result of undoing.
    private func undoing(_ step: SetupStep, after error: KeychainError) -> KeychainError {
        do throws(KeychainError) {
            let changes = try SetupRecord.read(in: stateDirectory).changes.filter { $0.step == step.name }
            for change in SetupRecord.Change.undoOrder(changes) { _ = try undoLocked(change) }
            guard !changes.isEmpty else { return error }
            return KeychainError(error.status, "\(error.problem); the changes before it were undone", hint: error.hint)
        } catch let failure {
            return KeychainError(
                error.status, "\(error.problem); and it could not be undone: \(failure.problem)",
                hint: "latchkey setup --undo \(step.name)")
        }
    }

    /// Runs `body` while no other process changes the record.
    private func whileLocked<Value>(_ body: () throws(KeychainError) -> Value) throws(KeychainError) -> Value {
        let lock: DirectoryLock
        do throws(SystemError) {
            lock = try DirectoryLock(PrivateDirectory(creating: stateDirectory).path, .exclusive)
        } catch {
            throw KeychainError(ofFile: error)
        }
        defer { withExtendedLifetime(lock) {} }
        return try body()
    }

    private func apply(_ action: SetupAction, of step: SetupStep) throws(KeychainError) {
        // Imported items stay, so that nothing is undone.
        if case .importing(let keyring) = action { return try importItems(of: keyring) }
        var record = try SetupRecord.read(in: stateDirectory)
        // Another process has done it since the plan was made.
        if case .file(let path, let content) = action, record.changes.contains(where: { $0.file == path }),
            holds(path, content)
        {
            return
        }
        let change = record.add(self.change(action, of: step))
        try record.write(in: stateDirectory)
        do throws(KeychainError) {
            try make(action, change.directories)
        } catch {
            if let left = remainder(of: change) {
                throw KeychainError(
                    error.status, "\(error.problem), but \(left)", hint: "latchkey setup --undo \(change.step)")
            }
            removeDirectories(of: change)
            record.changes.removeAll { $0 == change }
            // If this fails, as on a full disk, the change stays in the record, and undoing it changes
            // nothing.
            try? record.write(in: stateDirectory)
            throw error
        }
    }

    /// Returns the effect of a change that failed; nil without an effect.
    private func remainder(of change: SetupRecord.Change) -> String? {
        if let unit = change.unit { return machine.enables(unit) ? "\(unit) is enabled" : nil }
        if let units = change.masked { return units.contains(where: machine.isMasked) ? "units are masked" : nil }
        if let program = change.ended { return "\(program) may have ended" }
        guard let path = change.file else { return nil }
        return holds(path, change.content) ? "\(path) is there" : nil
    }

    /// Whether the path is that of a regular file with this content, and not of a link to one.
    private func holds(_ path: String, _ content: String?) -> Bool {
        guard (try? FileStatus.ofLink(path))?.kind == .file, let text = SetupTarget(path).text else { return false }
        return text == content
    }

    private func change(_ action: SetupAction, of step: SetupStep) -> SetupRecord.Change {
        switch action {
        case .file(let path, let content):
            SetupRecord.Change(
                step: step.name, file: path, content: content, directories: missingDirectories(above: path))
        case .unit(let name):
            SetupRecord.Change(step: step.name, unit: name)
        case .mask(let units):
            SetupRecord.Change(step: step.name, masked: units, active: units.filter(isActive))
        case .takeName:
            SetupRecord.Change(step: step.name, ended: "gnome-keyring-daemon")
        case .importing:
            SetupRecord.Change(step: step.name)
        }
    }

    private func isActive(_ unit: String) -> Bool {
        (try? machine.run(["systemctl", "--user", "is-active", "--quiet", unit])) == 0
    }

    private func missingDirectories(above path: String) -> [String] {
        var missing: [String] = []
        var rest = path[...]
        while let slash = rest.lastIndex(of: "/"), slash > rest.startIndex {
            rest = rest[..<slash]
            guard !machine.has(String(rest)) else { break }
            missing.insert(String(rest), at: 0)
        }
        return missing
    }

    private func make(_ action: SetupAction, _ directories: [String]) throws(KeychainError) {
        switch action {
        case .unit(let name):
            try systemctl(["enable", "--now", name])
        case .mask(let units):
            try systemctl(["mask", "--now"] + units)
        case .takeName(let parts):
            try takeName(restarting: parts)
        case .importing(let keyring):
            try importItems(of: keyring)
        case .file(let path, let content):
            do throws(SystemError) {
                for directory in directories where mkdir(directory, 0o755) != 0 && errno != EEXIST {
                    throw SystemError.last("create the directory", path: directory)
                }
                // A file that another program has created meanwhile is not replaced.
                try machine.create(path, Array(content.utf8))
            } catch {
                throw KeychainError(ofFile: error)
            }
        }
    }

    // MARK: Another keyring

    /// Imports the items of another keyring.
    ///
    /// - Throws: if the keychain does not have every item of it afterwards.
    private func importItems(of keyring: String) throws(KeychainError) {
        guard let program = machine.executable else {
            throw KeychainError(.notAvailable, "the path of this program is not known")
        }
        for words in [[], ["--verify"]] {
            let status: Int32
            do throws(SystemError) {
                status = try machine.runShowingErrors([program, "import", "--from", keyring] + words)
            } catch {
                throw KeychainError(ofFile: error)
            }
            guard status == 0 else { throw Self.failure(ofImport: status, from: keyring) }
        }
    }

    /// Returns the error for an exit value of `latchkey import`. That command has said the reason itself.
    private static func failure(ofImport status: Int32, from keyring: String) -> KeychainError {
        let command = "latchkey import --from \(keyring) --dry-run"
        guard status == 1 else {
            return KeychainError(
                .notAvailable,
                "the items of \(keyring) were not imported (exit value \(status)), and nothing else was done",
                hint: "\(command) shows why; latchkey explain \(status)")
        }
        return KeychainError(
            .notAvailable, "the keychain does not have every item of \(keyring), and nothing else was done",
            hint: "\(command) shows them; delete or rename those that are different, here or there")
    }

    private func takeName(restarting parts: [String]) throws(KeychainError) {
        // Who has the name now: a program may have started it since the plan was made.
        let owner = machine.secretService()?.owner
        if let owner, !owner.isLatchkey {
            guard owner.isGNOME else {
                throw KeychainError(.notAvailable, "\(owner) has become the Secret Service meanwhile")
            }
            try end(owner)
        }
        let status = try machine.startSecretService()
        guard let new = status.owner, new.isLatchkey else {
            throw KeychainError(
                .notAvailable,
                "the session bus has started \(status.owner?.description ?? "nothing") and not latchkey-secret-service")
        }
        guard !parts.isEmpty else { return }
        // The end of its unit has ended all parts of it, and the name may have a new owner since.
        let program = owner.flatMap { $0.isGNOME ? $0.program : nil } ?? "gnome-keyring-daemon"
        let words = [program, "--start", "--components=\(parts.joined(separator: ","))"]
        do throws(SystemError) {
            let status = try machine.run(words)
            guard status == 0 else { throw SystemError("start", path: program, code: ECHILD) }
        } catch {
            throw KeychainError(
                .notAvailable, "gnome-keyring did not start again for \(parts.joined(separator: " and "))",
                hint: words.joined(separator: " "))
        }
    }

    private func end(_ owner: SecretServiceStatus.Owner) throws(KeychainError) {
        guard let process = owner.process else {
            throw KeychainError(.notAvailable, "the process of \(owner) is not known, so that it cannot be ended")
        }
        do throws(SystemError) { try machine.end(process) } catch { throw KeychainError(ofFile: error) }
    }

    private func systemctl(_ words: [String]) throws(KeychainError) {
        let command = ["systemctl", "--user"] + words
        let status: Int32
        do throws(SystemError) {
            status = try machine.run(command)
        } catch {
            throw KeychainError(ofFile: error)
        }
        guard status == 0 else {
            let text = command.joined(separator: " ")
            throw KeychainError(.notAvailable, "\(text) ended with \(status)", hint: text)
        }
    }

    // MARK: Undoing

    enum Undone: Equatable {
        case undone
        /// The file has another content by now, and stays.
        case changed
        /// Only created directories were left, and they are removed.
        case missing
        /// The other program has the name of the Secret Service again.
        case givenBack
        /// The name of the Secret Service is free, and nothing has taken it yet.
        case free
    }

    /// Undoes a change, and takes it out of the record.
    func undo(_ change: SetupRecord.Change) throws(KeychainError) -> Undone {
        try whileLocked { () throws(KeychainError) in try undoLocked(change) }
    }

    private func undoLocked(_ change: SetupRecord.Change) throws(KeychainError) -> Undone {
        let result = try revert(change)
        var record = try SetupRecord.read(in: stateDirectory)
        record.changes.removeAll { $0 == change }
        try record.write(in: stateDirectory)
        return result
    }

    private func revert(_ change: SetupRecord.Change) throws(KeychainError) -> Undone {
        if let unit = change.unit {
            try disable(unit)
            return .undone
        }
        if let units = change.masked {
            try systemctl(["unmask"] + units)
            if let active = change.active, !active.isEmpty { try systemctl(["start"] + active) }
            return .undone
        }
        if change.ended != nil { return try giveBackName() }
        guard let path = change.file else { return .missing }
        // An interrupted --apply may have created directories only.
        guard try exists(path) else {
            removeDirectories(of: change)
            return .missing
        }
        guard holds(path, change.content) else { return .changed }
        guard unlink(path) == 0 else { throw KeychainError(ofFile: .last("remove", path: path)) }
        removeDirectories(of: change)
        return .undone
    }

    /// Ends latchkey-secret-service, and lets the bus start the other service, because it finds the files of that
    /// service again.
    private func giveBackName() throws(KeychainError) -> Undone {
        if let owner = machine.secretService()?.owner, owner.isLatchkey { try end(owner) }
        // The next login starts a service that the bus cannot start now.
        guard let owner = try? machine.startSecretService().owner else { return .free }
        guard !owner.isLatchkey else {
            throw KeychainError(
                .notAvailable, "the session bus has started \(owner) again: another file of the bus names it",
                hint: "ls ~/.local/share/dbus-1/services /usr/local/share/dbus-1/services")
        }
        return .givenBack
    }

    /// Whether there is anything at the path, also a link that leads nowhere.
    private func exists(_ path: String) throws(KeychainError) -> Bool {
        do throws(SystemError) {
            return try FileStatus.ofLink(path) != nil
        } catch {
            // A directory that was replaced by a file.
            guard error.code == ENOTDIR else { throw KeychainError(ofFile: error) }
            return false
        }
    }

    /// Removes the directories that were created for a file and are empty, and before that the draft of a
    /// process that was killed.
    private func removeDirectories(of change: SetupRecord.Change) {
        if let parent = change.file.flatMap(ParentDirectory.of),
            let directory = try? OpenDirectory(followingLinks: FilePath(parent))
        {
            for entry in (try? directory.entries()) ?? [] where entry.kind == .file {
                // If it stays, so does its directory.
                _ = try? directory.removeDraft(entry.name)
            }
        }
        for directory in change.directories.reversed() { rmdir(directory) }
    }

    private func disable(_ unit: String) throws(KeychainError) {
        try systemctl(["disable", "--now", unit])
        guard unit == "latchkeyd.socket" else { return }
        // The daemon that the socket has started, and its claim to the keychain.
        try systemctl(["stop", "latchkeyd.service"])
        guard let daemon = machine.companion("latchkeyd") else { return }
        do throws(SystemError) {
            _ = try machine.run([daemon, "--user", "--release"])
        } catch {
            throw KeychainError(ofFile: error)
        }
    }
}
