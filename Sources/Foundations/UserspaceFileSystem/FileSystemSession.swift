// SPDX-License-Identifier: Apache-2.0

internal import CFuse3
internal import Dispatch
internal import Glibc
public import LinuxSystem

/// A mounted file system: receives the kernel's requests and passes them to ``InodeOperations``.
///
/// ```
/// let session = try FileSystemSession(mounting: operations, at: "/home/me/plain")
/// TerminationSignals.handle { session.unmount() }
/// session.run()
/// ```
public final class FileSystemSession: Sendable {
    private let mountPoint: MountPoint
    private let server: OperationServer
    // because libfuse's session is made for several threads
    nonisolated(unsafe) private let session: OpaquePointer
    private let maxThreads: Int
    private let state = SystemMutex(State())
    private let ended = DispatchSemaphore(value: 0)

    private struct State {
        var threads = 0
        var isUnmounting = false
    }

    /// The bytes that one request writes at most.
    static let maxWrite = 1 << 20
    /// Twice the processors, so that some can wait for the disk.
    public static let defaultThreads = min(16, max(8, 2 * WorkerThreads.processorCount))

    /// Mounts a file system. It answers requests as soon as ``run()`` is called.
    ///
    /// - Parameters:
    ///   - name: the name in the list of mounts, without a comma.
    ///   - isReadOnly: whether the kernel refuses every change.
    ///   - allowsOthers: whether the kernel lets other users in, as far as the permissions of the files
    ///     allow it. For a user, `/etc/fuse.conf` must have `user_allow_other`.
    public init(
        mounting operations: any InodeOperations, at path: FilePath, name: String = "latchkey",
        isReadOnly: Bool = false, allowsOthers: Bool = false, maxThreads: Int = defaultThreads
    ) throws(SystemError) {
        // A view could be mounted over a file, but would not be a directory then.
        guard try FileStatus.of(path)?.kind == .directory else {
            throw SystemError("mount a file system at", path: path, code: ENOTDIR)
        }
        mountPoint = MountPoint(path)
        server = OperationServer(operations)
        self.maxThreads = max(1, maxThreads)
        let options =
            "default_permissions,fsname=\(name),subtype=latchkey,nosuid,nodev" + (isReadOnly ? ",ro" : "")
            + (allowsOthers ? ",allow_other" : "")
        var table = RequestTable.make()
        let words = [strdup("latchkey"), strdup("-o"), strdup(options)]
        defer { for word in words { free(word) } }
        var arguments = words + [nil]
        let context = Unmanaged.passUnretained(server).toOpaque()
        guard let session = CFuse3_session(3, &arguments, &table, context) else {
            throw SystemError("prepare a file system for", path: path, code: EINVAL)
        }
        self.session = session
        errno = 0
        guard path.withCString({ fuse_session_mount(session, $0) }) == 0 else {
            // The object is complete, so the session is destroyed with it.
            let needsSetting = allowsOthers && geteuid() != 0
            throw SystemError(
                "mount", path: path, code: errno == 0 ? EPERM : errno,
                hint: needsSetting ? "put the line user_allow_other into /etc/fuse.conf" : nil)
        }
    }

    // The session is only destroyed if no thread uses it any more; otherwise the process is about to end.
    deinit {
        if state.withLock({ $0.threads }) == 0 { fuse_session_destroy(session) }
    }

    // MARK: Serving

    /// Answers requests until the file system is unmounted.
    public func run() {
        // The first request negotiates the size of the others.
        var buffer = ReceiveBuffer()
        guard buffer.serveOne(session, server.gate) else { return }
        state.withLock { $0.threads = maxThreads }
        for _ in 0..<maxThreads {
            let isRunning = BackgroundThread.run { [self] in
                var buffer = ReceiveBuffer()
                while buffer.serveOne(session, server.gate) {}
                threadHasEnded()
            }
            if !isRunning { threadHasEnded() }
        }
        ended.wait()
    }

    private func threadHasEnded() {
        let isLast = state.withLock { state in
            state.threads -= 1
            return state.threads == 0
        }
        if isLast { ended.signal() }
    }

    /// Unmounts. Programs that still use a file get errors from now on.
    ///
    /// Not for an operation of the file system itself.
    public func unmount() {
        let isFirst = state.withLock { state in
            defer { state.isUnmounting = true }
            return !state.isUnmounting
        }
        guard isFirst else { return }
        mountPoint.synchronize()
        do throws(SystemError) {
            try mountPoint.unmount()
        } catch {
            mountPoint.abort()
            try? mountPoint.detach()
            // Threads that wait for a request of a program that does not end are left to the end of the process.
            if geteuid() != 0 { ended.signal() }
        }
    }

    /// Removes the file system from the tree of directories. Nothing of it is asked, so it need not be served.
    public func detach() {
        state.withLock { $0.isUnmounting = true }
        try? mountPoint.detach()
    }

    // MARK: Requests

    /// Waits until all requests that are being answered are, and their memory is wiped. Later ones are not
    /// waited for, and do not wait.
    ///
    /// Not for an operation of the file system itself.
    public func awaitBegunRequests() { server.gate.awaitBegun() }

    // MARK: The kernel's caches

    /// Removes the content of a file, and its attributes, from the kernel's caches. A page that is being
    /// read is waited for. A page that a program copies at this moment stays, and with it all pages of the
    /// same folio: ``hasContent(of:in:)`` tells whether one has.
    ///
    /// Not for an operation of the file system itself, because the kernel may wait for it.
    public func forgetContent(of inode: InodeNumber) {
        fuse_lowlevel_notify_inval_inode(session, inode.rawValue, 0, 0)
    }

    /// Whether the kernel has a page of a part of a file in its cache; true if it does not answer.
    ///
    /// Not for an operation of the file system itself: its threads receive the answers.
    public func hasContent(of inode: InodeNumber, in part: Range<UInt64>) -> Bool {
        guard isServing else { return false }
        return PageQuery(part).answer(of: session, inode) != .absent && isServing
    }

    /// Whether requests are answered: from ``run()`` until the file system is unmounted.
    public var isServing: Bool { state.withLock { $0.threads > 0 } }

    /// Removes a name from the kernel's caches.
    public func forgetName(_ name: FileName, in parent: InodeNumber) {
        name.withText { text in
            _ = fuse_lowlevel_notify_inval_entry(session, parent.rawValue, text, name.bytes.count)
        }
    }

    /// Makes the kernel look up a name again before its next use, without removing the names below it: a program that
    /// works in the directory can continue.
    public func expireName(_ name: FileName, in parent: InodeNumber) {
        let outcome = name.withText { text in
            fuse_lowlevel_notify_expire_entry(
                session, parent.rawValue, text, name.bytes.count, FUSE_LL_EXPIRE_ONLY)
        }
        // The kernel is older than 6.2.
        if outcome == -ENOSYS { forgetName(name, in: parent) }
    }
}

extension FileName {
    fileprivate func withText<Result>(_ body: (UnsafePointer<CChar>?) -> Result) -> Result {
        (bytes + [0]).withUnsafeBytes { body($0.baseAddress?.assumingMemoryBound(to: CChar.self)) }
    }
}

/// The memory for one request.
private struct ReceiveBuffer: ~Copyable {
    private var buffer = fuse_buf()

    deinit { free(buffer.mem) }

    /// Receives one request and answers it.
    ///
    /// - Returns: false at the end.
    mutating func serveOne(_ session: OpaquePointer, _ gate: OperationGate) -> Bool {
        guard fuse_session_exited(session) == 0 else { return false }
        let count = fuse_session_receive_buf(session, &buffer)
        if count == -EINTR || count == -EAGAIN { return true }
        guard count > 0 else { return false }
        gate.pass {
            fuse_session_process_buf(session, &buffer)
            // It has names, and the content that a program has written.
            explicit_bzero(buffer.mem, Int(count))
        }
        return true
    }
}
