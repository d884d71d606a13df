// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxSystem

/// The state of a path where a step creates a file.
enum SetupTarget: Equatable {
    /// Nothing: the file and its directories can be created.
    case free
    /// The text of a regular file, or of one that a link leads to.
    case text(String)
    /// An object that cannot be read as a file: its path, possibly that of a directory above, and the finding, as in
    /// "is a directory".
    case occupied(path: String, finding: String)

    /// nil unless it is the text of a file.
    var text: String? {
        guard case .text(let text) = self else { return nil }
        return text
    }

    init(_ path: String) {
        var info = stat()
        guard lstat(path, &info) == 0 else {
            self = [ENOENT, ENOTDIR].contains(errno) ? Self.above(path) : .unreadable(path)
            return
        }
        self = Self.content(of: path)
    }

    private static func content(of path: String) -> SetupTarget {
        if let finding = finding(at: path) { return .occupied(path: path, finding: finding) }
        do throws(SystemError) {
            guard let bytes = try BoundedFile.read(path, limit: SetupMachine.maxLength) else { return .free }
            return .text(String(decoding: bytes, as: UTF8.self))
        } catch {
            guard error.code == EFBIG else {
                return .occupied(path: path, finding: "cannot be read: \(error.reason)")
            }
            return .occupied(path: path, finding: "is longer than \(SetupMachine.maxLength) bytes")
        }
    }

    /// Returns the state according to the first existing directory above: a file cannot be created below something
    /// else.
    private static func above(_ path: String) -> SetupTarget {
        var info = stat()
        var next = ParentDirectory.of(path)
        while let parent = next {
            if lstat(parent, &info) == 0 {
                guard stat(parent, &info) == 0, info.st_mode & S_IFMT == S_IFDIR else {
                    return .occupied(path: parent, finding: finding(at: parent) ?? "is not a directory")
                }
                return .free
            }
            guard [ENOENT, ENOTDIR].contains(errno) else { return .unreadable(parent) }
            next = ParentDirectory.of(parent)
        }
        return .free
    }

    /// Returns the finding at a path that exists; nil for a regular file, or a link to one.
    private static func finding(at path: String) -> String? {
        var info = stat()
        guard stat(path, &info) == 0 else {
            if errno == ENOENT { return "is a symbolic link that leads nowhere" }
            return "cannot be read: \(SystemError.last("open", path: path).reason)"
        }
        return switch info.st_mode & S_IFMT {
        case S_IFREG: nil
        case S_IFDIR: "is a directory"
        case S_IFIFO: "is a pipe"
        case S_IFSOCK: "is a socket"
        default: "is a device"
        }
    }

    /// For a call that has just failed.
    private static func unreadable(_ path: String) -> SetupTarget {
        .occupied(path: path, finding: "cannot be read: \(SystemError.last("open", path: path).reason)")
    }
}
