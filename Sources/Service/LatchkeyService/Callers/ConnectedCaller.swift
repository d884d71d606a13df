// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import LinuxSystem

/// The caller at the other end of a connection. The user is the one that the kernel reported when
/// the connection was made; everything else is read again at each request. Not thread-safe: only
/// one thread at a time may use it.
public final class ConnectedCaller {
    private let peer: Peer
    private let reader: CallerReader
    private let claim: CallerIdentity
    /// Open since the first request; nil if the process is not visible.
    private var directory: OpenProcessDirectory?
    private var cached: CachedIdentity?

    /// An identity that was read, and the state that must be unchanged for it to be valid.
    private struct CachedIdentity {
        /// Read from the property lists beside the executable.
        var identity: StampedValue<CallerIdentity>
        var executable: OpenProcessDirectory.File
        /// nil if the kernel does not show it; then the executable is compared at each request.
        var addressSpace: AddressSpace?
        /// When the files were last compared with their stamps, in nanoseconds since boot.
        var checkedAt: UInt64

        /// Whether a tenth of a second has passed since the files were compared.
        var mustBeChecked: Bool { BootClock.system.now() &- checkedAt > ConnectedCaller.checkInterval }
    }

    public init(_ peer: Peer, claim: CallerIdentity, reader: CallerReader) {
        self.peer = peer
        self.claim = claim
        self.reader = reader
        directory = peer.whileAlive { reader.directory(of: peer.process) } ?? nil
    }

    /// Returns the current identity of the caller.
    ///
    /// - Throws: errSecNotAvailable if the process that made the connection has ended.
    public func identity() throws(KeychainError) -> CallerIdentity {
        if let known = identityInSameAddressSpace() { return known }
        guard let directory else {
            // The process is in another PID namespace or hidden (proc(5), hidepid): its user is
            // attested, everything else is its own statement.
            guard peer.process == 0 || peer.whileAlive({ true }) == true else { throw Self.ended }
            return reader.identity(reading())
        }
        switch directory.executable {
        case .ended: throw Self.ended
        case .file(let executable):
            if let cached = cachedIdentity(executable) { return cached }
        case .unknown: break
        }
        guard let fresh = peer.whileAlive({ currentIdentity() }) else { throw Self.ended }
        return fresh
    }

    /// Returns the cached identity if the process has executed no program since it was read: one
    /// system call. At least ten times a second the files are compared as well.
    private func identityInSameAddressSpace() -> CallerIdentity? {
        guard let cached, cached.addressSpace?.isInUse == true, !cached.mustBeChecked, !reader.hasRules else {
            return nil
        }
        return cached.identity.value
    }

    /// Returns the cached identity if the process executes the same file, and the property lists
    /// beside it are unchanged. Processes that cannot be inspected, and callers that a rule may
    /// match by unit or label, are read in full each time.
    private func cachedIdentity(_ executable: OpenProcessDirectory.File) -> CallerIdentity? {
        guard var cached, cached.executable == executable, cached.addressSpace?.isInUse != false, !reader.hasRules
        else { return nil }
        if cached.mustBeChecked {
            guard cached.identity.isCurrent else { return nil }
            cached.checkedAt = BootClock.system.now()
            self.cached = cached
        }
        return cached.identity.value
    }

    private func currentIdentity() -> CallerIdentity {
        let now = BootClock.system.now()
        // Opened first: if it is still in use afterwards, everything was read about one program.
        let addressSpace = directory?.addressSpace
        let before = directory?.executable
        let reading = reading()
        let path = reading.executable ?? reading.claim.executable
        let fresh = StampedValue(readFrom: [
            ProgramIdentity.entitlementsPath(path), ProgramIdentity.informationPath(path),
        ]) {
            reader.identity(reading)
        }
        cached = nil
        if case .file(let executable)? = before, before == directory?.executable, addressSpace?.isInUse != false {
            cached = CachedIdentity(
                identity: fresh, executable: executable, addressSpace: addressSpace, checkedAt: now)
        }
        return fresh.value
    }

    /// A tenth of a second, in nanoseconds.
    private static let checkInterval: UInt64 = 100_000_000

    /// Returns the facts about the caller, with their sources.
    public func facts() throws(KeychainError) -> [CallerReport.Fact] {
        guard peer.process > 0 else { return reader.facts(reading(), hasHandle: peer.hasHandle) }
        guard let facts = peer.whileAlive({ reader.facts(reading(), hasHandle: peer.hasHandle) }) else {
            throw Self.ended
        }
        return facts
    }

    private func reading() -> CallerReader.Reading {
        reader.read(user: peer.user, process: peer.process, claim: claim)
    }

    private static let ended = KeychainError(
        .notAvailable, "the process that made this connection has ended",
        hint: "connect again: a connection is not inherited")
}
