// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A signal without content between processes, bound to a directory: one process raises it by setting the times of the
/// directory (utimensat(2)), and inotify(7) reports that to every process that observes the directory.
///
/// A process that may write to the directory may raise the signal. A signal says only that something
/// has happened; several signals can be reported as one.
public final class DirectorySignal: Sendable {
    /// An event that an observer receives.
    public enum Event: Sendable {
        /// The signal was raised since the last event.
        case raised
        /// The directory was renamed or unmounted, or it was removed and no process has a file of it
        /// open: there are no further events. Also reported if the kernel has dropped events.
        case ended
    }

    private struct State {
        var watcher: DirectoryWatcher?
        var observers: [Int: Observer] = [:]
        var next = 0
    }

    private struct Observer {
        let watch: Int32
        let body: @Sendable (Event) -> Void
    }

    private static let perProcess = ForkLocal { DirectorySignal() }

    /// The observers of this process. They share one thread. A forked child has none.
    public static var ofProcess: DirectorySignal { perProcess.value }

    private let state = SystemMutex(State())

    private init() {}

    /// Raises the signal of a directory, for every process.
    ///
    /// - Returns: false if the directory cannot be changed.
    @discardableResult
    public static func raise(_ directory: String) -> Bool {
        utimensat(AT_FDCWD, directory, nil, 0) == 0
    }

    /// Calls `body` whenever the signal is raised after this call returns, on one thread for all
    /// observers of the process: it must not block.
    ///
    /// - Returns: a number for ``removeObserver(_:)``.
    public func addObserver(
        of directory: String, _ body: @escaping @Sendable (Event) -> Void
    ) throws(SystemError) -> Int {
        let outcome: Result<Int, SystemError> = state.withLock { state in
            Result { () throws(SystemError) in
                let watch = try watch(directory, &state)
                state.next += 1
                state.observers[state.next] = Observer(watch: watch, body: body)
                return state.next
            }
        }
        return try outcome.get()
    }

    private func watch(_ directory: String, _ state: inout State) throws(SystemError) -> Int32 {
        if let watcher = state.watcher { return try watcher.watch(directory) }
        let fresh = try DirectoryWatcher { [weak self] events in self?.deliver(events) }
        do throws(SystemError) {
            let watch = try fresh.watch(directory)
            state.watcher = fresh
            return watch
        } catch {
            fresh.end()
            throw error
        }
    }

    /// Ends the calls of an observer. A call that has begun on the other thread is not awaited.
    public func removeObserver(_ number: Int) {
        // The watcher ends with its last reference, outside of the lock.
        let ended = state.withLock { state -> DirectoryWatcher? in
            guard let observer = state.observers.removeValue(forKey: number) else { return nil }
            if !state.observers.values.contains(where: { $0.watch == observer.watch }) {
                state.watcher?.forget(observer.watch)
            }
            guard state.observers.isEmpty else { return nil }
            defer { state.watcher = nil }
            return state.watcher
        }
        ended?.end()
    }

    /// Calls the observers about the events that the watcher has read.
    private func deliver(_ events: DirectoryWatcher.Events) {
        let calls = state.withLock { state -> [(@Sendable (Event) -> Void, Event)] in
            // Numbers of watches belong to one watcher.
            guard let current = state.watcher, current === events.watcher else { return [] }
            var calls: [(@Sendable (Event) -> Void, Event)] = []
            for (number, observer) in state.observers {
                // A lost event may have been the end.
                if events.isIncomplete || events.ended.contains(observer.watch) {
                    state.observers[number] = nil
                    // A directory that was renamed is still watched.
                    current.forget(observer.watch)
                    calls.append((observer.body, .ended))
                } else if events.raised.contains(observer.watch) {
                    calls.append((observer.body, .raised))
                }
            }
            if state.observers.isEmpty {
                current.end()
                state.watcher = nil
            }
            return calls
        }
        for (body, event) in calls { body(event) }
    }
}
