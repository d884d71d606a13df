// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import KeychainModel
internal import LinuxSystem

/// Makes the changes of steps, and undoes them.
struct SetupWork {
    let machine: SetupMachine
    /// Where the record is.
    let stateDirectory: String

    // MARK: Doing

    /// Does one step. The record is written before the change, so that `--undo` finds it after a crash.
    func apply(_ step: SetupStep) throws(KeychainError) {
        for action in step.actions {
            var record = try SetupRecord.read(in: stateDirectory)
            let change = self.change(action, of: step)
            record.changes.append(change)
            try record.write(in: stateDirectory)
            do throws(KeychainError) {
                try make(action, change.directories)
            } catch {
                record.changes.removeLast()
                try record.write(in: stateDirectory)
                throw error
            }
        }
    }

    private func change(_ action: SetupAction, of step: SetupStep) -> SetupRecord.Change {
        switch action {
        case .file(let path, let content):
            SetupRecord.Change(
                step: step.name, file: path, content: content, directories: missingDirectories(above: path))
        case .unit(let name):
            SetupRecord.Change(step: step.name, unit: name)
        }
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
        case .file(let path, let content):
            do throws(SystemError) {
                for directory in directories where mkdir(directory, 0o755) != 0 && errno != EEXIST {
                    throw SystemError.last("create the directory", path: directory)
                }
                // A file that another program has created meanwhile is not replaced.
                let file = try OwnedDescriptor(
                    opening: path, flags: O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o644)
                try Array(content.utf8).withUnsafeBufferPointer { (bytes) throws(SystemError) in
                    try file.write(UnsafeRawBufferPointer(bytes), path: path)
                }
            } catch {
                throw SetupRecord.failure(error)
            }
        }
    }

    private func systemctl(_ words: [String]) throws(KeychainError) {
        let command = ["systemctl", "--user"] + words
        let status: Int32
        do throws(SystemError) {
            status = try machine.run(command)
        } catch {
            throw SetupRecord.failure(error)
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
        /// There was nothing left.
        case missing
    }

    /// Undoes a change, and takes it out of the record.
    func undo(_ change: SetupRecord.Change) throws(KeychainError) -> Undone {
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
        guard let path = change.file else { return .missing }
        guard machine.has(path) else { return .missing }
        guard machine.text(of: path) == change.content else { return .changed }
        guard unlink(path) == 0 else { throw SetupRecord.failure(.last("remove", path: path)) }
        // Only those that were created for the file, and are empty again.
        for directory in change.directories.reversed() { rmdir(directory) }
        return .undone
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
            throw SetupRecord.failure(error)
        }
    }
}
