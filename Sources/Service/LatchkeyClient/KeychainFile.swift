// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import KeychainModel
public import LatchkeyService
internal import LinuxSystem

/// A keychain as the user names it, and the file that stands for it.
///
/// On macOS, this file is the keychain. Here it is a marker file, for programs that look for one: it has
/// no secret, and names the data directory that has the keychain. A keychain in `~/Library/Keychains`
/// has a name, and is found by it, also without the file. A keychain at another path is found only
/// where its file is.
public struct KeychainFile: Sendable {
    public let name: KeychainName
    /// The path of the file, without links. nil if there is no home directory for a program to search.
    public let path: String?

    /// Reads a name or a path as macOS does: a relative path is below `~/Library/Keychains`, and files in
    /// such a directory end in `-db`.
    ///
    /// Of a file in the user's own `~/Library/Keychains`, the endings do not count: `build`,
    /// `build.keychain` and `build.keychain-db` are one keychain. A relative path does not leave that
    /// directory.
    ///
    /// - Throws: errSecInvalidKeychain for text that is neither.
    public init(_ text: String) throws(KeychainError) {
        let isAbsolute = text.utf8.first == Self.slash
        let parts = text.utf8.split(separator: Self.slash).filter { !$0.elementsEqual(".".utf8) }.map {
            String(decoding: $0, as: UTF8.self)
        }
        let folder = Self.folder
        guard let last = parts.last, last != "..", isAbsolute || !parts.contains(".."), text.utf8.last != Self.slash,
            !text.utf8.contains(0), text.utf8.count <= Self.maxTextLength
        else { throw Self.invalid(text) }
        guard let absolute = isAbsolute ? "/" + parts.joined(separator: "/") : Self.absolute(parts) else {
            guard parts.count == 1, let name = Self.name(of: last) else { throw Self.invalid(text) }
            (self.name, path) = (name, nil)
            return
        }
        let path = Self.resolve(Self.withEnding(absolute))
        let isInFolder =
            folder.flatMap { folder in
                ParentDirectory.of(path)?.utf8.elementsEqual(Self.resolve(folder).utf8)
            } ?? false
        let file = path.split(separator: "/").last.map { String($0) } ?? ""
        guard let name = (isInFolder ? Self.name(of: file) : nil) ?? KeychainName(path) else {
            throw Self.invalid(text)
        }
        (self.name, self.path) = (name, path)
    }

    /// Whether the marker file is there.
    public var exists: Bool { path.map(Self.isMarker) ?? false }

    /// Whether there is anything else in the place of the marker file.
    var isForeign: Bool {
        guard let path, !Self.isMarker(path) else { return false }
        return ((try? FileStatus.ofLink(path)) ?? nil) != nil
    }

    /// Requires that neither the keychain nor a file in its place exists.
    ///
    /// - Throws: errSecDuplicateKeychain.
    public func requireNew(in overview: KeychainOverview) throws(KeychainError) {
        guard overview.place(name) == nil else { throw KeychainError(.duplicateKeychain) }
        guard !isForeign else {
            throw KeychainError(
                .duplicateKeychain, "\(path ?? name.text) exists, and is not a keychain of Latchkey",
                hint: "move it away, or name another path")
        }
        guard !name.isPath || !exists else {
            let path = name.text
            throw KeychainError(
                .duplicateKeychain, "\(path) is the file of a keychain that is not among yours",
                hint: Self.isMarker(path, of: overview.dataDirectory)
                    ? "security delete-keychain \(path.shellQuoted)"
                    : "name another path; cat \(path.shellQuoted) shows where its items are")
        }
    }

    // MARK: Creating and removing

    /// Creates the file, and its missing parent directories. That of a keychain with a name may exist, and
    /// there is none in a home directory that this process cannot write.
    ///
    /// - Parameter dataDirectory: where the keychains are, for the text of the file.
    /// - Returns: whether there is a new file.
    /// - Throws: errSecDuplicateKeychain if there is something else at the path.
    func create(dataDirectory: String) throws(KeychainError) -> Bool {
        guard let path, name.isPath || !exists else { return false }
        let text = Self.beginning + dataDirectory + Self.ending
        do throws(SystemError) {
            try PrivateDirectory.makeParents(of: path)
            try NewFile.create(path, content: Array(text.utf8), mode: 0o600)
        } catch {
            guard error.code != EEXIST else { throw KeychainError(.duplicateKeychain) }
            guard !name.isPath, [EACCES, EPERM, EROFS].contains(error.code) else { throw KeychainError(ofFile: error) }
            return false
        }
        return true
    }

    /// Removes the file after a creation that failed.
    func remove(dataDirectory: String) throws(KeychainError) {
        if let path { try Self.remove(path, of: dataDirectory) }
    }

    /// Removes the files of a keychain that was deleted.
    static func remove(of name: KeychainName, dataDirectory: String) throws(KeychainError) {
        for path in places(of: name) { try remove(path, of: dataDirectory) }
    }

    /// Removes a marker file; anything else in its place stays, also the file of another data directory.
    private static func remove(_ path: String, of directory: String) throws(KeychainError) {
        guard isMarker(path, of: directory), unlink(path) != 0, errno != ENOENT else { return }
        throw KeychainError(ofFile: .last("remove", path: path))
    }

    // MARK: From a name to a path

    /// Returns the path that stands for a keychain in output.
    ///
    /// - Parameter place: the keychain as its registry knows it; nil if it does not exist.
    public static func shownPath(of name: KeychainName, _ place: KeychainPlace?) -> String {
        places(of: name).first(where: isMarker) ?? place?.path ?? places(of: name).first ?? name.fileName
    }

    /// Whether the marker file of a keychain with a path is there, and belongs to this data directory.
    static func exists(of name: KeychainName, dataDirectory: String) -> Bool {
        name.isPath && isMarker(name.text, of: dataDirectory)
    }

    /// Where the file of a keychain can be.
    private static func places(of name: KeychainName) -> [String] {
        guard !name.isPath else { return [name.text] }
        guard name != .login, let folder else { return [] }
        return [".keychain-db", "-db", ".keychain", ""].map { "\(folder)/\(name)\($0)" }
    }

    // MARK: From text to a path

    /// The home directory; nil without one, as in a container, where it is `/`.
    private static var home: String? {
        guard let home = SecureEnvironment.value(of: "HOME"), home.hasPrefix("/"), home != "/",
            SecureEnvironment.isExact(home), exists(home)
        else { return nil }
        return home
    }

    private static var folder: String? { home.map { "\($0)/Library/Keychains" } }

    /// Returns the path of a relative one; nil without a home directory.
    private static func absolute(_ parts: [String]) -> String? {
        // A word that no shell has expanded is below the home directory.
        let isUnexpanded = parts.first == "~" && parts.count > 1
        let below = isUnexpanded ? Array(parts.dropFirst()) : parts
        return (isUnexpanded ? home : folder).map { "\($0)/" + below.joined(separator: "/") }
    }

    /// Adds `-db` to a path in a user's `Library/Keychains`, unless only the file without it exists.
    private static func withEnding(_ path: String) -> String {
        guard path.contains("/Library/Keychains/"), !path.hasPrefix("/Library/Keychains/"),
            !path.hasPrefix("/System/Library/Keychains/"), !path.hasSuffix("-db")
        else { return path }
        return exists(path) && !exists(path + "-db") ? path : path + "-db"
    }

    /// Returns the path without links. Parts that do not exist stay as they are.
    private static func resolve(_ path: String) -> String {
        if let found = realpath(path, nil) {
            defer { free(found) }
            return String(cString: found)
        }
        guard let parent = ParentDirectory.of(path), let last = path.split(separator: "/").last else { return path }
        let rest = resolve(parent)
        return rest == "/" ? "/\(last)" : "\(rest)/\(last)"
    }

    /// Returns the name of a keychain with a file in `~/Library/Keychains`.
    private static func name(of file: String) -> KeychainName? {
        let hasKeychainEnding = file.hasSuffix(".keychain") || file.hasSuffix(".keychain-db")
        return KeychainName(file.hasSuffix("-db") && !hasKeychainEnding ? String(file.dropLast(3)) : file)
    }

    private static func exists(_ path: String) -> Bool { ((try? FileStatus.of(path)) ?? nil) != nil }

    // MARK: The marker file

    private static func isMarker(_ path: String) -> Bool { directory(ofMarker: path) != nil }

    /// Whether a file is the marker file of a keychain of this data directory, or of one that does not exist
    /// any more: it may have been moved here.
    private static func isMarker(_ path: String, of directory: String) -> Bool {
        guard let marked = Self.directory(ofMarker: path) else { return false }
        if marked.utf8.elementsEqual(directory.utf8) { return true }
        do {
            guard let status = try FileStatus.of(marked) else { return true }
            return try status.identity == FileStatus.of(directory)?.identity
        } catch { return false }
    }

    /// The data directory that a marker file names; nil for any other file.
    private static func directory(ofMarker path: String) -> String? {
        guard let bytes = (try? BoundedFile.read(path, limit: 2 * maxTextLength)) ?? nil,
            let text = String(validating: bytes, as: UTF8.self), text.hasPrefix(beginning), text.hasSuffix(ending)
        else { return nil }
        return String(text.dropFirst(beginning.count).dropLast(ending.count))
    }

    private static func invalid(_ text: String) -> KeychainError {
        KeychainError(.invalidKeychain, "'\(text)' is not the name or the path of a keychain")
    }

    private static let beginning = "Latchkey keychain: its items are in "
    private static let ending = ". This file has no secret.\n"
    private static let slash = UInt8(ascii: "/")
    /// PATH_MAX.
    private static let maxTextLength = 4095
}
