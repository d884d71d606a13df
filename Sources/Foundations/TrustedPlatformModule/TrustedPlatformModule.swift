// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// A TPM 2.0. One thread at a time uses it; the others wait.
///
/// Objects are stored outside of the TPM, encrypted by it: each operation loads its object, uses it
/// and removes it, because a TPM without a resource manager has three slots. Commands are sent in a
/// session that authenticates every response and encrypts its secrets, so that they cannot be read
/// or changed on the way (TCG TPM 2.0 Library, part 1, section 19).
public final class TrustedPlatformModule: Sendable {
    private let transport: any TPMTransport
    private let commandSeconds: UInt64
    private let gate = BinarySemaphore()
    private let slot = ModuleSlot()
    private let uses = SystemMutex((count: 0, isWatched: false))

    /// A TPM at an address. Nothing is opened yet.
    public convenience init(_ address: TPMAddress) { self.init(address.transport) }

    /// - Parameter commandSeconds: how long an operation may take.
    public init(_ transport: any TPMTransport, commandSeconds: Int = 30) {
        self.transport = transport
        self.commandSeconds = UInt64(commandSeconds)
    }

    public var address: TPMAddress { transport.address }

    /// Runs an operation on the open TPM.
    ///
    /// A connection that failed is closed. If the TPM was reset meanwhile, or the connection of an earlier operation
    /// ended, the operation is repeated once on a new connection, unless it has begun a command that must not be sent
    /// twice: ``OpenModule/begin()``.
    func run<Result>(_ body: (OpenModule) throws(TPMError) -> Result) throws(TPMError) -> Result {
        guard gate.acquire(seconds: Int(commandSeconds)) else { throw .busy }
        defer {
            gate.release()
            closeWhenIdle()
        }
        let wasOpen = slot.module != nil
        do throws(TPMError) {
            return try attempt(body)
        } catch {
            guard wasOpen, !slot.hasBegun, error.isOutdatedConnection else { throw error }
            return try attempt(body)
        }
    }

    private func attempt<Result>(_ body: (OpenModule) throws(TPMError) -> Result) throws(TPMError) -> Result {
        FreedMemory.beginOverwriting()
        defer { FreedMemory.endOverwriting() }
        let module = if let open = slot.module { open } else { try OpenModule(transport, until: deadline) }
        slot.module = module
        module.start(until: deadline)
        defer { module.wipeCopies() }
        do throws(TPMError) {
            return try body(module)
        } catch {
            // After an error, the state of the session in the TPM is unknown: the error itself may have been made up on
            // the way.
            slot.hasBegun = module.hasBegun
            slot.module = nil
            throw error
        }
    }

    /// Opens the connection in the background, because an operation will follow soon. It does not take
    /// long: a failure is that operation's.
    public func prepare() { BackgroundThread.run { [weak self] in self?.openEarly() } }

    private func openEarly() {
        guard gate.acquire(seconds: 0) else { return }
        defer {
            gate.release()
            closeWhenIdle()
        }
        guard slot.module == nil else { return }
        FreedMemory.beginOverwriting()
        defer { FreedMemory.endOverwriting() }
        let seconds = min(commandSeconds, 3)
        slot.module = try? OpenModule(transport, until: BootClock.system.now() + seconds * 1_000_000_000)
    }

    private var deadline: UInt64 { BootClock.system.now() + commandSeconds * 1_000_000_000 }

    /// Closes the connection, and with it the slots that it uses in the TPM.
    public func close() {
        gate.acquire()
        defer { gate.release() }
        slot.module = nil
    }

    // MARK: Idle

    /// Closes the connection about a second after the last operation: swtpm serves one connection
    /// at a time, and its slots are few.
    private func closeWhenIdle() {
        let isWatched = uses.withLock { uses in
            uses.count += 1
            defer { uses.isWatched = true }
            return uses.isWatched
        }
        guard !isWatched else { return }
        let isRunning = BackgroundThread.run { [weak self] in
            var seen: Int?
            repeat {
                seen = self?.uses.withLock { $0.count }
                Self.pause()
            } while self?.isIdle(since: seen) == false
            self?.close()
        }
        if !isRunning { uses.withLock { $0.isWatched = false } }
    }

    private func isIdle(since seen: Int?) -> Bool {
        uses.withLock { uses in
            if uses.count == seen { uses.isWatched = false }
            return !uses.isWatched
        }
    }
}

/// The open connection of a TPM. Unchecked, because only the thread that has acquired the gate uses
/// it.
private final class ModuleSlot: @unchecked Sendable {
    var module: OpenModule?
    /// ``OpenModule/hasBegun`` of the operation that failed last.
    var hasBegun = false
}
