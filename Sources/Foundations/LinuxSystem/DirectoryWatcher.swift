// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A watcher of directories: it reports changes of their own attributes and their end (inotify(7)) on one thread that
/// sleeps in between.
final class DirectoryWatcher: Sendable {
    /// The events that were read together, by the numbers of their watches.
    struct Events {
        let watcher: DirectoryWatcher
        var raised: Set<Int32> = []
        var ended: Set<Int32> = []
        /// Whether events were lost, so that every watch may have ended.
        var isIncomplete = false
    }

    private let inotify: OwnedDescriptor
    private let stop: StopSignal

    /// - Parameter body: called on the thread of the watcher.
    init(_ body: @escaping @Sendable (Events) -> Void) throws(SystemError) {
        let descriptor = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
        guard descriptor >= 0 else {
            throw SystemError(
                "observe directories", code: errno,
                hint: errno == EMFILE ? "sudo sysctl fs.inotify.max_user_instances=1024" : nil)
        }
        inotify = OwnedDescriptor(adopting: descriptor)
        stop = try StopSignal()
        guard BackgroundThread.run({ [self] in run(body) }) else {
            throw SystemError("start a thread that observes directories", code: EAGAIN)
        }
    }

    /// Starts to watch a directory. A directory that is watched already keeps its number.
    func watch(_ directory: String) throws(SystemError) -> Int32 {
        let watch = inotify_add_watch(inotify.rawValue, directory, Self.mask)
        guard watch >= 0 else {
            throw SystemError(
                "observe", path: directory, code: errno,
                hint: errno == ENOSPC ? "sudo sysctl fs.inotify.max_user_watches=65536" : nil)
        }
        return watch
    }

    /// Stops to watch a directory.
    func forget(_ watch: Int32) {
        // It fails if the directory no longer exists, and then there is nothing to forget.
        _ = inotify_rm_watch(inotify.rawValue, watch)
    }

    /// Ends the thread, and with it the last reference to this object.
    func end() { stop.raise() }

    private func run(_ body: (Events) -> Void) {
        while stop.waitUntilReadable(inotify.rawValue) {
            if let events = readEvents() { body(events) }
        }
        // Without effect after ``end()``.
        body(Events(watcher: self, isIncomplete: true))
    }

    /// Returns the events that have arrived; nil if there are none.
    private func readEvents() -> Events? {
        let arrived = InotifyEvent.read(from: inotify.rawValue)
        guard !arrived.isEmpty else { return nil }
        var events = Events(watcher: self)
        for event in arrived {
            if event.has(UInt32(IN_Q_OVERFLOW)) { events.isIncomplete = true }
            // An event with a name is about an entry of the directory.
            if event.has(UInt32(IN_ATTRIB)), event.name == nil { events.raised.insert(event.watch) }
            if event.has(Self.endMask) { events.ended.insert(event.watch) }
        }
        return events
    }

    private static var endMask: UInt32 { UInt32(IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_IGNORED) }
    private static var mask: UInt32 { UInt32(IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF) | UInt32(IN_ONLYDIR) }
}
