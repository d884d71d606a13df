// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem

/// Tells observers, in this process and in others, that a keychain has changed.
///
/// The log of the database is not observed: SQLite writes to it before a change is visible, and also
/// when nothing changes. A change is announced after its transaction is complete. If a process is
/// killed between the two, observers learn of its change with the next one.
final class ChangeNotifier: Sendable {
    typealias Body = @Sendable (KeychainChangeEvent) -> Void

    private struct State {
        var bodies: [Int: Body] = [:]
        /// The numbers at ``DirectorySignal``, for a keychain in files.
        var signals: [Int: Int] = [:]
        var next = 0
        /// Whether the keychain was closed.
        var isEnded = false
    }

    /// The directory of the database; nil in memory.
    private let directory: String?
    private let state = SystemMutex(State())

    /// - Parameter path: the path of the database; nil in memory.
    init(path: String?) {
        directory = path.map { path in path.lastIndex(of: "/").map { String(path[...$0]) } ?? "." }
    }

    deinit {
        for signal in state.withLock({ $0.signals.values }) { DirectorySignal.ofProcess.removeObserver(signal) }
    }

    /// Announces a change that is complete.
    func announce() {
        if let directory {
            // A failure loses the event and not the change. It means that the directory is gone, and
            // that ends the observers.
            DirectorySignal.raise(directory)
        } else {
            for body in state.withLock({ Array($0.bodies.values) }) { body(.changed) }
        }
    }

    /// Calls `body` after every change that is announced after this call returns.
    func addObserver(_ body: @escaping Body) throws(StoreError) -> Int {
        let added = state.withLock { state -> Int? in
            guard !state.isEnded else { return nil }
            state.next += 1
            state.bodies[state.next] = body
            return state.next
        }
        guard let number = added else { throw .closed }
        guard let directory else { return number }
        do throws(SystemError) {
            let signal = try DirectorySignal.ofProcess.addObserver(of: directory) { [weak self] event in
                switch event {
                case .raised: self?.state.withLock { $0.bodies[number] }?(.changed)
                case .ended: self?.end(number)
                }
            }
            let isKept = state.withLock { state in
                // The observer may have ended meanwhile.
                guard state.bodies[number] != nil else { return false }
                state.signals[number] = signal
                return true
            }
            if !isKept { DirectorySignal.ofProcess.removeObserver(signal) }
            return number
        } catch {
            removeObserver(number)
            throw .system(error)
        }
    }

    func removeObserver(_ number: Int) { _ = takeBody(number) }

    /// Ends all observers, and accepts no others.
    func end() {
        let numbers = state.withLock { state in
            state.isEnded = true
            return Array(state.bodies.keys)
        }
        for number in numbers { end(number) }
    }

    private func end(_ number: Int) { takeBody(number)?(.ended) }

    /// Removes an observer, and returns its body to the one caller that removed it.
    private func takeBody(_ number: Int) -> Body? {
        let (body, signal) = state.withLock { state in
            (state.bodies.removeValue(forKey: number), state.signals.removeValue(forKey: number))
        }
        if let signal { DirectorySignal.ofProcess.removeObserver(signal) }
        return body
    }
}
