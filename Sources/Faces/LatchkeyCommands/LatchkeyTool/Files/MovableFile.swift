// SPDX-License-Identifier: Apache-2.0

internal import FileProtection
internal import Glibc
internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyService
internal import LinuxSystem

/// The plain file of a move, by its name in its directory.
struct MovableFile {
    let directory: OpenDirectory
    let name: FilePath
    private let path: FilePath

    init(_ path: FilePath) throws(CommandFailure) {
        guard let last = path.lastComponent, last != ".", last != ".." else {
            throw .parameter("'\(path)' is not the name of a file")
        }
        (name, self.path) = (last, path)
        directory = try CommandFailure.mapSystemErrors { () throws(SystemError) in
            try OpenDirectory(followingLinks: path.parent ?? ".")
        }
    }

    /// Throws unless the file can be removed after its content was stored: it is a regular file with
    /// one name.
    func requireMovable() throws(CommandFailure) {
        let kind = try CommandFailure.mapSystemErrors { () throws(SystemError) in
            try directory.entries().first { $0.name == name }?.kind
        }
        guard let kind else { throw .status(KeychainError(ofFile: SystemError("open", path: path, code: ENOENT))) }
        guard kind == .file else {
            throw .parameter("\(path) is not a regular file", hint: "move the file that a link leads to")
        }
        let count = try CommandFailure.mapSystemErrors { () throws(SystemError) in
            try FileAttributes(of: directory.open(name, flags: O_RDONLY), path: path.description).linkCount
        }
        guard try !isInKeychain() else {
            throw .parameter("\(path) is a file of the keychain itself", hint: "latchkey backup saves a keychain")
        }
        guard count == 1 else {
            throw .parameter(
                "\(path) has \(count) names, and would stay plain under the others", hint: "remove the other names")
        }
    }

    /// Whether the file is below a directory of the keychain.
    private func isInKeychain() throws(CommandFailure) -> Bool {
        let keychain = try FileBatchOptions.keychainDirectories()
        return try CommandFailure.mapSystemErrors { () throws(SystemError) in
            var place = directory.path
            var last: FileStatus.Identity?
            while let identity = try FileStatus.of(place)?.identity, identity != last {
                if keychain.contains(identity) { return true }
                (last, place) = (identity, "\(place)/..")
            }
            return false
        }
    }

    func requireAbsent() throws(CommandFailure) {
        let exists = try CommandFailure.mapSystemErrors { () throws(SystemError) in
            try directory.entries().contains { $0.name == name }
        }
        guard !exists else {
            throw .status(KeychainError(ofFile: SystemError("create", path: path, code: EEXIST)))
        }
    }

    func requireUnchanged(_ reader: PlainFileReader) throws(KeychainError) {
        // The file of this name is removed, so it must be the file that was read.
        let named = try? FileAttributes(
            of: directory.open(name, flags: O_RDONLY), path: path.description, withExtended: false)
        guard reader.isUnchanged, named?.stamp == reader.stamp else {
            throw KeychainError(
                .notAvailable, "\(path) was changed while it was stored, and was left as it is", hint: "try again")
        }
    }

    func remove() throws(KeychainError) {
        do throws(SystemError) {
            try directory.remove(name)
            try directory.synchronize()
        } catch {
            throw KeychainError(ofFile: error)
        }
    }
}

extension CommandFailure {
    static func mapSystemErrors<Value: ~Copyable>(
        _ body: () throws(SystemError) -> Value
    ) throws(CommandFailure) -> Value {
        try withErrors(as: { CommandFailure.status(KeychainError(ofFile: $0)) }, body)
    }
}
