// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import LinuxSystem

/// Threads for calls that block on a disk, a lock or a daemon, so that tasks do not block the threads of Swift's
/// concurrency: it has only as many as processors.
///
/// A dispatch queue is not used: on Linux the tasks themselves run on the threads of the global
/// queues, and none of these work in a forked child.
package final class BlockingCallPool: Sendable {
    package typealias Call = @Sendable () -> Void

    private struct State {
        /// The calls that no thread has taken, in two parts: new ones, and older ones in reverse
        /// order.
        var new: [Call] = []
        var older: [Call] = []
        var threads = 0
        /// The threads that wait for a call.
        var idle = 0

        var waiting: Int { new.count + older.count }

        mutating func take() -> Call? {
            if older.isEmpty {
                older = new.reversed()
                new = []
            }
            return older.popLast()
        }
    }

    private static let perProcess = ForkLocal { BlockingCallPool() }

    /// The pool of this process.
    package static var shared: BlockingCallPool { perProcess.value }

    private let state = SystemMutex(State())
    private let added = DispatchSemaphore(value: 0)
    private let idleMilliseconds: Int

    /// - Parameter idleMilliseconds: how long a thread without a call waits before it ends.
    package init(idleMilliseconds: Int = 10_000) {
        self.idleMilliseconds = idleMilliseconds
    }

    /// The number of threads.
    package var threadCount: Int { state.withLock { $0.threads } }

    /// The maximum number of threads. The store of a process serves four lookups at once; the other
    /// threads are for calls that take long, such as the check of a passcode.
    package static let maxThreads = 16

    /// Runs `call` on one of the threads, in the order of the calls. If the system cannot create the
    /// first thread, the calling thread runs it.
    package func run(_ call: @escaping Call) {
        let needsThread = state.withLock { state in
            state.new.append(call)
            guard state.waiting > state.idle, state.threads < Self.maxThreads else { return false }
            state.threads += 1
            return true
        }
        guard needsThread else {
            added.signal()
            return
        }
        if BackgroundThread.run({ [self] in runCalls() }) { return }
        // The threads that exist will take the call.
        let isLast = state.withLock { state in
            state.threads -= 1
            return state.threads == 0
        }
        if !isLast { return }
        while let next = state.withLock({ $0.take() }) { next() }
    }

    private func runCalls() {
        while let call = nextCall() { call() }
    }

    /// Waits for a call; returns nil if the thread is to end.
    private func nextCall() -> Call? {
        var hasTimedOut = false
        while true {
            let (call, ends) = state.withLock { state -> (Call?, Bool) in
                if let call = state.take() { return (call, false) }
                if hasTimedOut { state.threads -= 1 } else { state.idle += 1 }
                return (nil, hasTimedOut)
            }
            if let call { return call }
            if ends { return nil }
            hasTimedOut = added.wait(timeout: .now() + .milliseconds(idleMilliseconds)) == .timedOut
            state.withLock { $0.idle -= 1 }
        }
    }
}
