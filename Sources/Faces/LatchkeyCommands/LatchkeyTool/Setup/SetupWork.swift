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
            for action in step.actions { try apply(action, of: step) }
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

    /// What a change has done although it failed; nil if that is nothing.
    private func remainder(of change: SetupRecord.Change) -> String? {
        if let unit = change.unit { return machine.enables(unit) ? "\(unit) is enabled" : nil }
        if let unit = change.masked { return machine.isMasked(unit) ? "\(unit) is masked" : nil }
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
        case .mask(let unit):
            SetupRecord.Change(step: step.name, masked: unit, wasActive: isActive(unit))
        case .takeName(let owner):
            SetupRecord.Change(step: step.name, ended: owner.program ?? "the Secret Service")
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
        case .mask(let unit):
            try systemctl(["mask", "--now", unit])
        case .takeName(let owner):
            try takeName(from: owner)
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
        guard let program = machine.companion(CompanionProgram.keyringImport.name) else {
            throw KeychainError(.notAvailable, "\(CompanionProgram.keyringImport.name) is not installed")
        }
        for words in [[], ["--verify"]] {
            let status: Int32
            do throws(SystemError) {
                status = try machine.run([program, "--from", keyring] + words)
            } catch {
                throw KeychainError(ofFile: error)
            }
            guard status == 0 else {
                throw KeychainError(
                    .notAvailable, "the keychain does not have every item of \(keyring), which stays as it is",
                    hint: "latchkey import --from \(keyring) --dry-run shows them; delete or rename those that are different")
            }
        }
    }

    private func takeName(from owner: SecretServiceStatus.Owner) throws(KeychainError) {
        // The agent for SSH keys is a part of the same process.
        let hasAgent = machine.runtimeDirectory.map { machine.has("\($0)/keyring/ssh") } ?? false
        try end(owner)
        let status = try machine.startSecretService()
        guard let new = status.owner, new.isLatchkey else {
            throw KeychainError(
                .notAvailable, "the session bus has started \(status.owner?.description ?? "nothing") and not latchkey-secret-service")
        }
        guard hasAgent, let program = owner.program else { return }
        do throws(SystemError) {
            let status = try machine.run([program, "--start", "--components=ssh"])
            guard status == 0 else { throw SystemError("start \(program)", code: ECHILD) }
        } catch {
            throw KeychainError(
                .notAvailable, "the agent of gnome-keyring for SSH keys did not start again",
                hint: "eval \"$(\(program) --start --components=ssh)\"")
        }
    }

    private func end(_ owner: SecretServiceStatus.Owner) throws(KeychainError) {
        guard let process = owner.process else {
            throw KeychainError(
                .notAvailable, "the process of \(owner) is not known, so that it cannot be ended",
                hint: "log out and in: what was done so far lets the session bus start latchkey-secret-service")
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
        /// There was nothing left but directories that were created, which are removed.
        case missing
        /// The name of the Secret Service is free, and nothing has taken it yet.
        case free
    }

    /// Undoes a change, and takes it out of the record.
    func undo(_ change: SetupRecord.Change) throws(KeychainError) -> Undone {
        try whileLocked { () throws(KeychainError) in
            let result = try revert(change)
            var record = try SetupRecord.read(in: stateDirectory)
            record.changes.removeAll { $0 == change }
            try record.write(in: stateDirectory)
            return result
        }
    }

    private func revert(_ change: SetupRecord.Change) throws(KeychainError) -> Undone {
        if let unit = change.unit {
            try disable(unit)
            return .undone
        }
        if let unit = change.masked {
            try systemctl(["unmask", unit])
            if change.wasActive == true { try systemctl(["start", unit]) }
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

    /// Ends latchkey-secret-service, and lets the bus start the other service, whose files it finds again.
    private func giveBackName() throws(KeychainError) -> Undone {
        if let owner = machine.secretService()?.owner, owner.isLatchkey { try end(owner) }
        // What the bus cannot start now, the next login does.
        guard let owner = try? machine.startSecretService().owner, !owner.isLatchkey else { return .free }
        return .undone
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
