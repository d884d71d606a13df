// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import LinuxSystem

/// The caller at the other end of a connection. Its user is what the kernel said when the connection was made; everything else is read
/// again at each request. One thread at a time uses it.
public final class ConnectedCaller {
    private let peer: Peer
    private let reader: CallerReader
    private let claim: CallerIdentity
    /// Kept from the first request on; nil where the process is not to be seen.
    private var directory: OpenProcessDirectory?
    private var cached: CachedIdentity?

    /// What was read of the process, and what has to be as it was for that still to hold.
    private struct CachedIdentity {
        /// Read from the property lists beside the executable.
        var identity: StampedValue<CallerIdentity>
        var executable: OpenProcessDirectory.File
        /// When the state of those was compared, on the clock of the boot.
        var checkedAt: UInt64
    }

    public init(_ peer: Peer, claim: CallerIdentity, reader: CallerReader) {
        self.peer = peer
        self.claim = claim
        self.reader = reader
        directory = peer.whileAlive { reader.directory(of: peer.process) } ?? nil
    }

    /// Who is calling now.
    ///
    /// - Throws: errSecNotAvailable where the process that made the connection has ended.
    public func identity() throws(KeychainError) -> CallerIdentity {
        guard let directory else {
            // Of another namespace, or hidden (proc(5), hidepid): its user is certain, and the rest is its own word.
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

    /// What was read before, if the process executes the same file, and nothing beside it has changed. Whoever cannot be looked at, and units
    /// and labels that give something, are read in full each time.
    private func cachedIdentity(_ executable: OpenProcessDirectory.File) -> CallerIdentity? {
        guard var cached, cached.executable == executable, !reader.hasRules else { return nil }
        let now = BootClock.system.now()
        if now - cached.checkedAt > Self.checkInterval {
            guard cached.identity.isCurrent else { return nil }
            cached.checkedAt = now
            self.cached = cached
        }
        return cached.identity.value
    }

    private func currentIdentity() -> CallerIdentity {
        let now = BootClock.system.now()
        let before = directory?.executable
        let reading = reading()
        let path = reading.executable ?? reading.claim.executable
        let fresh = StampedValue(readFrom: [
            ProgramIdentity.entitlementsPath(path), ProgramIdentity.informationPath(path),
        ]) {
            reader.identity(reading)
        }
        cached = nil
        if case .file(let executable)? = before, before == directory?.executable {
            cached = CachedIdentity(identity: fresh, executable: executable, checkedAt: now)
        }
        return fresh.value
    }

    /// A tenth of a second, in nanoseconds.
    private static let checkInterval: UInt64 = 100_000_000

    /// What is known of the caller, and from where.
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
