// SPDX-License-Identifier: Apache-2.0

internal import CFuse3
internal import Glibc
internal import LinuxSystem

/// A query for the pages of a file in the kernel's cache: it asks for one byte of each page, and the kernel sends none
/// of a page that it does not have.
final class PageQuery: Sendable {
    enum Answer { case absent, present, unknown }

    private struct State {
        /// The questions without an answer.
        var open = 0
        var isPresent = false
    }

    private let part: Range<UInt64>
    private let state = SystemMutex(State())
    private let answered = BinarySemaphore()

    init(_ part: Range<UInt64>) { self.part = part }

    /// Asks, and waits for the answers. The threads of the session receive them.
    func answer(of session: OpaquePointer, _ inode: InodeNumber) -> Answer {
        answered.acquire()
        defer { answered.release() }
        // One more than the questions, so that the last answer is not taken for the end while they are asked.
        state.withLock { $0.open = 1 }
        for offset in stride(from: part.lowerBound, to: part.upperBound, by: sysconf(Int32(_SC_PAGESIZE))) {
            state.withLock { $0.open += 1 }
            let reference = Unmanaged.passRetained(self)
            let outcome = fuse_lowlevel_notify_retrieve(
                session, inode.rawValue, 1, off_t(offset), reference.toOpaque())
            guard outcome != 0 else { continue }
            reference.release()
            // The kernel does not know the file any more, and has no page of it.
            receive(bytes: outcome == -ENOENT ? 0 : 1)
        }
        receive(bytes: 0)
        guard answered.acquire(seconds: Self.maxWait) else { return .unknown }
        return state.withLock { $0.isPresent } ? .present : .absent
    }

    /// Receives the kernel's answer.
    ///
    /// - Parameter cookie: the pointer that ``answer(of:_:)`` has passed.
    static func receive(_ cookie: UnsafeMutableRawPointer?, bytes: Int) {
        guard let cookie else { return }
        Unmanaged<PageQuery>.fromOpaque(cookie).takeRetainedValue().receive(bytes: bytes)
    }

    private func receive(bytes: Int) {
        let isLast = state.withLock { state in
            state.open -= 1
            if bytes > 0 { state.isPresent = true }
            return state.open == 0
        }
        if isLast { answered.release() }
    }

    /// In seconds.
    private static let maxWait = 10
}
