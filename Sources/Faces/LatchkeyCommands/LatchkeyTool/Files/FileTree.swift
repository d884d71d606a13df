// SPDX-License-Identifier: Apache-2.0

internal import FileProtection
package import LinuxSystem

/// The files that a command names, and those below the directories that it names, one after the
/// other. Symbolic links below a directory are not followed.
package final class FileTree {
    /// A file in its open directory.
    package struct File: Sendable {
        package let directory: OpenDirectory
        package let name: FilePath
        /// Whether it was found below a directory that was named.
        var isBelowDirectory = false

        package var path: FilePath { directory.path(of: name) }
    }

    package enum Entry: Sendable {
        case file(File)
        /// A symbolic link or a special file; it is skipped.
        case other(FilePath, reason: String)
        case failure(FilePath, SystemError)
    }

    /// How the files of Latchkey itself below directories are treated: drafts of killed commands, and policies.
    package enum OwnFiles: Sendable {
        case skipped
        case skippedWithoutDrafts
        /// As any others: their names prove nothing.
        case listed
    }

    private enum Pending {
        case argument(FilePath)
        case child(OpenDirectory, OpenDirectory.Entry)
    }

    private var pending: [Pending]
    private let isRecursive: Bool
    private let ownFiles: OwnFiles
    private let excluded: Set<FileStatus.Identity>
    private let partial: [FilePath: Set<FilePath>]

    /// - Parameters:
    ///   - isRecursive: whether a directory is allowed, and means everything below it.
    ///   - ownFiles: skipped; `skippedWithoutDrafts` also removes the drafts.
    ///   - excluded: directories that are never entered: those of the keychain itself.
    ///   - partial: names of directories, with the names of the files to which they are limited below others.
    package init(
        _ paths: [FilePath], isRecursive: Bool, ownFiles: OwnFiles, excluding excluded: Set<FileStatus.Identity> = [],
        limiting partial: [FilePath: Set<FilePath>] = [:]
    ) {
        (self.excluded, self.partial) = (excluded, partial)
        pending = paths.reversed().map(Pending.argument)
        self.isRecursive = isRecursive
        self.ownFiles = ownFiles
    }

    package func next() -> Entry? {
        while let next = pending.popLast() {
            switch next {
            case .argument(let path): if let entry = argument(path) { return entry }
            case .child(let parent, let child): if let entry = self.child(child, in: parent) { return entry }
            }
        }
        return nil
    }

    private func argument(_ path: FilePath) -> Entry? {
        do throws(SystemError) {
            guard let status = try FileStatus.ofLink(path) else { throw SystemError("find", path: path, code: 2) }
            guard status.kind != .directory else { return try list(try OpenDirectory(path)) }
            guard let name = path.lastComponent else { throw SystemError("open", path: path, code: 21) }
            let parent = try OpenDirectory(followingLinks: path.parent ?? ".")
            guard try !excluded.contains(parent.identity) else { return .other(path, reason: Self.own) }
            return .file(File(directory: parent, name: name))
        } catch {
            return .failure(path, error)
        }
    }

    /// - Parameter names: of the files that are listed; nil for all entries.
    private func list(_ directory: OpenDirectory, only names: Set<FilePath>? = nil) throws(SystemError) -> Entry? {
        guard isRecursive else {
            throw SystemError(
                "process", path: directory.path, code: 21, hint: "--recursive includes everything below a directory")
        }
        guard try !excluded.contains(directory.identity) else { return .other(directory.path, reason: Self.own) }
        let entries = try directory.entries().filter { entry in
            names.map { entry.kind == .file && $0.contains(entry.name) } ?? true
        }
        pending += entries.reversed().map { .child(directory, $0) }
        return nil
    }

    private static let own = "it belongs to the keychain itself"

    private func child(_ child: OpenDirectory.Entry, in parent: OpenDirectory) -> Entry? {
        let path = parent.path(of: child.name)
        do throws(SystemError) {
            switch child.kind {
            case .directory: return try list(try parent.directory(child.name), only: partial[child.name])
            case .link: return .other(path, reason: "a symbolic link")
            case .other: return .other(path, reason: "neither a file nor a directory")
            case .file:
                if ownFiles != .listed, try isOwn(child.name, in: parent) { return nil }
                return .file(File(directory: parent, name: child.name, isBelowDirectory: true))
            }
        } catch {
            return .failure(path, error)
        }
    }

    private func isOwn(_ name: FilePath, in parent: OpenDirectory) throws(SystemError) -> Bool {
        if name == FilePath(ProtectionPolicy.fileName) { return true }
        guard name.hasPrefix(OpenDirectory.draftPrefix) else { return false }
        if ownFiles == .skippedWithoutDrafts { _ = try parent.removeDraft(name) }
        return true
    }
}
