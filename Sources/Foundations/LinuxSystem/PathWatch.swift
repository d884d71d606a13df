// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Observes one path by inotify(7), from its creation on: a file that appears there, or the end of the
/// one that is there.
///
/// An event says only that the path may have changed: its observer looks again.
public final class PathWatch: Sendable {
    private let inotify: OwnedDescriptor
    /// The only entry of the watched directory that counts; nil if each event counts.
    private let name: String?

    /// Observes whether a file appears at an absolute path. Some directories of the path may be missing.
    public init(arrivalAt path: String) throws(SystemError) {
        inotify = try Self.make()
        var (directory, name) = Self.split(path)
        let mask = UInt32(IN_CREATE | IN_MOVED_TO | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF)
        while inotify_add_watch(inotify.rawValue, directory, mask | UInt32(IN_ONLYDIR)) < 0 {
            guard [ENOENT, ENOTDIR, EACCES].contains(errno), directory != "/" else {
                throw .last("observe", path: directory)
            }
            (directory, name) = Self.split(directory)
        }
        self.name = name
    }

    /// Observes whether the file at an absolute path loses its name.
    public init(endOf path: String) throws(SystemError) {
        inotify = try Self.make()
        name = nil
        // The attributes of a file change when its name is removed.
        var (observed, mask) = (path, UInt32(IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF))
        while observed != "/" {
            guard inotify_add_watch(inotify.rawValue, observed, mask) >= 0 else {
                throw .last("observe", path: observed)
            }
            (observed, mask) = (Self.split(observed).directory, UInt32(IN_DELETE_SELF | IN_MOVE_SELF))
        }
    }

    /// Waits until the path may have changed, or a signal is raised.
    ///
    /// - Returns: false if the signal is raised; it is not lowered.
    public func wait(until signal: StopSignal) -> Bool {
        while signal.waitUntilReadable(inotify.rawValue) {
            if hasChanged() { return true }
        }
        return false
    }

    /// Waits until the path may have changed, or a signal is raised, and lowers the signal.
    public func wait(or signal: WakeSignal) {
        repeat {
            if signal.wait(for: inotify.rawValue, events: Int16(POLLIN), milliseconds: -1) { return }
        } while !hasChanged()
    }

    /// Reads the events that have arrived, and returns whether one of them counts.
    private func hasChanged() -> Bool {
        InotifyEvent.read(from: inotify.rawValue).contains { event in
            name == nil || event.name == nil || event.name == name
        }
    }

    private static func make() throws(SystemError) -> OwnedDescriptor {
        let descriptor = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
        guard descriptor >= 0 else { throw .last("observe a path") }
        return OwnedDescriptor(adopting: descriptor)
    }

    private static func split(_ path: String) -> (directory: String, name: String) {
        guard let slash = path.lastIndex(of: "/") else { return ("/", path) }
        return (slash == path.startIndex ? "/" : String(path[..<slash]), String(path[path.index(after: slash)...]))
    }
}
