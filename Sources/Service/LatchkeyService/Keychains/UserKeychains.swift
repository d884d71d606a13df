// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Glibc
internal import Keybag
public import KeychainModel
internal import LinuxSystem

/// The keychains of one user: the one that every user has, and those that the user has created. Each
/// of these is a home of its own, in the directory `keychains` of the user's data and state
/// directories. A keychain with a path is there as well: its directory has a digest of the path as
/// the name, and the path in a file.
public struct UserKeychains: Sendable {
    let login: KeychainHome

    /// - Parameter login: the home of the keychain that every user has.
    public init(_ login: KeychainHome) { self.login = login }

    /// The home of a keychain, whether it exists or not.
    public func home(of name: KeychainName) -> KeychainHome {
        name == .login ? login : login.subhome(Self.directoryName, Self.directory(of: name), name)
    }

    /// The name of a keychain's directory. Only that of a keychain with a path has no ending.
    private static func directory(of name: KeychainName) -> String {
        guard name.isPath else { return name.fileName }
        return pathMark + Hexadecimal.text(AuditKey.digest(of: Array(name.text.utf8)).prefix(16))
    }

    /// Whether a keychain exists. The one that every user has always does: its first use creates it.
    public func contains(_ name: KeychainName) throws(KeychainError) -> Bool {
        guard name != .login else { return true }
        return try withErrors(as: KeychainError.init(_:)) { () throws(SystemError) in
            try FileStatus.ofLink(home(of: name).dataDirectory)?.kind == .directory
        }
    }

    /// All keychains: first the one that every user has, then the others by name, then those with a path.
    public func names() throws(KeychainError) -> [KeychainName] {
        let path = "\(login.dataDirectory)/\(Self.directoryName)"
        return try withErrors(as: KeychainError.init(_:)) { () throws(SystemError) in
            guard try FileStatus.ofLink(path) != nil else { return [.login] }
            let directories = try OpenDirectory(PrivateDirectory(existing: path).path).entries().filter {
                $0.kind == .directory
            }
            // Other names are of a creation or a deletion that was interrupted.
            let names = directories.compactMap { entry in
                entry.name.text.flatMap { text in
                    (text.hasSuffix(".keychain-db") ? KeychainName(text) : Self.storedPath(in: "\(path)/\(text)"))
                        .flatMap { Self.directory(of: $0) == text && $0 != .login ? $0 : nil }
                }
            }
            let paths = names.filter(\.isPath).sorted { $0.text < $1.text }
            return [.login] + names.filter { !$0.isPath } + paths
        }
    }

    /// The path of a keychain, as its directory has it.
    private static func storedPath(in directory: String) -> KeychainName? {
        let file = "\(directory)/\(pathFileName)"
        guard let bytes = (try? PrivateFile.read(file, atMost: KeychainName.maxPathLength)) ?? nil,
            let name = String(validating: bytes, as: UTF8.self).flatMap({ KeychainName($0) }), name.isPath
        else { return nil }
        return name
    }

    // MARK: The search list and the default keychain

    var listPath: String { "\(login.dataDirectory)/\(KeychainList.fileName)" }

    /// - Throws: errSecNotAvailable for a list that is not readable as a whole.
    public func list() throws(KeychainError) -> KeychainList {
        let path = listPath
        let bytes = try withErrors(as: KeychainError.init(_:)) { () throws(SystemError) in
            try PrivateFile.read(path, atMost: KeychainList.maxFileLength)
        }
        guard let bytes else { return .initial }
        guard let list = KeychainList(parsing: bytes) else {
            throw KeychainError(
                .notAvailable, "the list of keychains in \(path) is damaged",
                hint: "correct it, or remove it: then only the login keychain is searched")
        }
        return list
    }

    /// Changes the search list and the default keychain, as one step. The list may name a keychain that
    /// does not exist, as on macOS.
    ///
    /// - Throws: errSecNoSuchKeychain if the new default keychain does not exist.
    public func changeList(
        _ change: (inout KeychainList) throws(KeychainError) -> Void
    ) throws(KeychainError) {
        try whileLocked { (directory) throws(KeychainError) in
            var list = try list()
            let before = list
            try change(&list)
            if list.defaultKeychain != before.defaultKeychain, try !contains(list.defaultKeychain) {
                throw Self.missing(list.defaultKeychain)
            }
            guard list != before else { return }
            try write(list, in: directory)
        }
    }

    // MARK: Creating and deleting

    /// Creates a keychain, and appends it to the search list. It exists when it is complete: a crash
    /// leaves nothing that counts.
    ///
    /// - Parameter make: creates the content of the home, and closes it.
    /// - Throws: errSecDuplicateKeychain.
    public func create(
        _ name: KeychainName, _ make: (KeychainHome) throws(KeychainError) -> Void
    ) throws(KeychainError) {
        try whileLocked { (directory) throws(KeychainError) in
            try requireAbsent(name)
            guard try names().count < KeychainList.maxCount else {
                throw .parameter("a user has at most \(KeychainList.maxCount) keychains")
            }
            let before = try list()
            var list = before
            list.forget(name)
            try list.setSearch(list.search + [name])
            let (draft, home) = (draft(of: name), home(of: name))
            try remove(draft)
            do throws(KeychainError) {
                try make(draft)
                if name.isPath { try writePath(name, in: draft) }
                // A list may name a keychain that does not exist. The keychain exists as soon as its data directory has
                // its name. This is the last step: one that fails has created nothing.
                try write(list, in: directory)
                try withErrors(as: KeychainError.init(_:)) { () throws(SystemError) in
                    try Self.removeTree(home.stateDirectory)
                    try Self.rename(draft.stateDirectory, to: home.stateDirectory)
                    try Self.rename(draft.dataDirectory, to: home.dataDirectory)
                }
            } catch {
                try? remove(draft)
                // The last step may have been done without being durable: then the keychain is kept whole.
                guard (try? contains(name)) == false else { throw error }
                try? Self.removeTree(home.stateDirectory)
                if (try? self.list()) != before { try? write(before, in: directory) }
                throw error
            }
        }
    }

    /// Deletes a keychain with everything in it, and removes it from the list.
    ///
    /// - Parameter close: called before the files are removed.
    /// - Throws: errSecNoSuchKeychain; errSecParam for the one that every user has.
    public func delete(
        _ name: KeychainName, _ close: (KeychainHome) throws(KeychainError) -> Void = { _ in }
    ) throws(KeychainError) {
        guard name != .login else { throw Self.loginIsKept }
        try whileLocked { (directory) throws(KeychainError) in
            guard try contains(name) else { throw Self.missing(name) }
            let home = home(of: name)
            try close(home)
            var list = try list()
            list.forget(name)
            let draft = draft(of: name)
            try remove(draft)
            try withErrors(as: KeychainError.init(_:)) { () throws(SystemError) in
                // From here on it does not exist.
                try Self.rename(home.dataDirectory, to: draft.dataDirectory)
                try Self.removeTree(home.stateDirectory)
            }
            try remove(draft)
            // The last step, because it needs the space that the others free.
            try write(list, in: directory)
        }
    }

    private func draft(of name: KeychainName) -> KeychainHome {
        login.subhome(Self.directoryName, Self.draftName, name)
    }

    /// The error for the deletion of the keychain that every user has.
    public static let loginIsKept = KeychainError(
        .param, "the login keychain cannot be deleted", hint: "latchkey rm --all deletes its items")

    /// The error for a keychain that does not exist.
    public static func missing(_ name: KeychainName) -> KeychainError {
        KeychainError(
            .noSuchKeychain, "there is no keychain '\(name)'",
            hint: "security list-keychains; security create-keychain"
        )
    }

    private func requireAbsent(_ name: KeychainName) throws(KeychainError) {
        guard try !contains(name) else {
            throw KeychainError(.duplicateKeychain, "the keychain '\(name)' exists already")
        }
        let path = home(of: name).dataDirectory
        guard
            try withErrors(as: KeychainError.init(_:), { () throws(SystemError) in try FileStatus.ofLink(path) }) == nil
        else {
            throw KeychainError(.invalidKeychain, "\(path) is not the directory of a keychain", hint: "move it away")
        }
    }

    // MARK: Files

    private func write(_ list: KeychainList, in directory: PrivateDirectory) throws(KeychainError) {
        guard KeychainList(parsing: Array(list.text.utf8)) == list else {
            throw KeychainError(.internalFailure, "the list of keychains cannot be written")
        }
        try withErrors(as: KeychainError.init(_:)) { () throws(SystemError) in
            try PrivateFile.replace(KeychainList.fileName, in: directory, content: Array(list.text.utf8))
        }
    }

    private func writePath(_ name: KeychainName, in home: KeychainHome) throws(KeychainError) {
        try withErrors(as: KeychainError.init(_:)) { () throws(SystemError) in
            try PrivateFile.replace(
                Self.pathFileName, in: PrivateDirectory(existing: home.dataDirectory), content: Array(name.text.utf8))
        }
    }

    /// Runs `body` while no other process changes the list, creates or deletes a keychain.
    private func whileLocked<Value>(
        _ body: (PrivateDirectory) throws(KeychainError) -> Value
    ) throws(KeychainError) -> Value {
        let directory = try withErrors(as: KeychainError.init(_:)) { () throws(SystemError) in
            try login.requireSafeIfNew()
            let directory = try PrivateDirectory(creating: login.dataDirectory)
            for place in [login.dataDirectory, login.stateDirectory] {
                _ = try PrivateDirectory(creating: "\(place)/\(Self.directoryName)")
            }
            return directory
        }
        let lock = try withErrors(as: KeychainError.init(_:)) { () throws(SystemError) in
            try FileLock(directory.appending(Self.lockName))
        }
        defer { withExtendedLifetime(lock) {} }
        return try body(directory)
    }

    private func remove(_ home: KeychainHome) throws(KeychainError) {
        try withErrors(as: KeychainError.init(_:)) { () throws(SystemError) in
            try Self.removeTree(home.dataDirectory)
            try Self.removeTree(home.stateDirectory)
        }
    }

    private static func removeTree(_ path: String) throws(SystemError) {
        guard try FileStatus.ofLink(path) != nil else { return }
        do { try FileManager().removeItem(atPath: path) } catch {
            throw SystemError("remove", path: path, code: EIO)
        }
    }

    private static func rename(_ from: String, to: String) throws(SystemError) {
        guard Glibc.rename(from, to) == 0 else { throw .last("create", path: to) }
        guard let parent = ParentDirectory.of(to) else { return }
        try PrivateDirectory(existing: parent).synchronize()
    }

    private static let directoryName = "keychains"
    private static let draftName = ".draft"
    private static let lockName = "keychains.lock"
    /// Begins the name of the directory of a keychain with a path.
    private static let pathMark = "path-"
    private static let pathFileName = "path"
}
