// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import LinuxSystem

/// The caller at the other end of a connection. Its user is what the kernel said when the connection was made; everything else is read
/// again at each request. One thread at a time uses it.
public final class ConnectedCaller {
    private let peer: Peer
    private let reader: CallerReader
    private let claim: CallerIdentity
    private var known: (executable: String, stamps: [FileStatus.Stamp], identity: CallerIdentity)?

    public init(_ peer: Peer, claim: CallerIdentity, reader: CallerReader) {
        self.peer = peer
        self.claim = claim
        self.reader = reader
    }

    /// Who is calling now.
    ///
    /// - Throws: errSecNotAvailable where the process that made the connection has ended.
    public func identity() throws(KeychainError) -> CallerIdentity {
        guard peer.process > 0 else { return reader.identity(reading()) }
        let identity = peer.whileAlive { () -> CallerIdentity in
            // While the process executes the same file and nothing beside it has changed, so has nothing that follows from them. Whoever
            // cannot be looked at, and units and labels that give something, are read in full.
            guard let executable = reader.executable(of: peer.process), !reader.hasRules else { return reader.identity(reading()) }
            // The same path in another mount namespace is another file.
            let files = [
                reader.executableLink(of: peer.process), ProgramIdentity.entitlementsPath(executable),
                ProgramIdentity.informationPath(executable),
            ]
            let stamps = files.map(FileStatus.stamp)
            if let known, known.executable == executable, known.stamps == stamps { return known.identity }
            let fresh = reader.identity(reading())
            known = fresh.executable == executable ? (executable, stamps, fresh) : nil
            return fresh
        }
        guard let identity else { throw Self.ended }
        return identity
    }

    /// What is known of the caller, and from where.
    public func facts() throws(KeychainError) -> [CallerReport.Fact] {
        guard peer.process > 0 else { return reader.facts(reading(), hasHandle: peer.hasHandle) }
        guard let facts = peer.whileAlive({ reader.facts(reading(), hasHandle: peer.hasHandle) }) else { throw Self.ended }
        return facts
    }

    private func reading() -> CallerReader.Reading {
        reader.read(user: peer.user, process: peer.process, claim: claim)
    }

    private static let ended = KeychainError(
        .notAvailable, "the process that made this connection has ended", hint: "connect again: a connection is not inherited")
}
