// SPDX-License-Identifier: Apache-2.0

/// The limits of a server, so that no user or program can exhaust its resources.
public struct ServerLimits: Sendable {
    /// Connections of one user. Above this number, the one that was idle for longest is closed; its
    /// client reconnects when necessary.
    public var connectionsPerUser: Int
    /// Connections of one process.
    public var connectionsPerProcess: Int
    /// Connections of one user that only wait for changes, of the lock or of the items.
    public var watchersPerUser: Int
    /// Sessions of one user; each has its own connections.
    public var sessionsPerUser: Int
    /// Connections of all users together.
    public var connections: Int
    /// The memory of large frames and results that are being transferred, for one user, in bytes.
    public var memoryPerUser: Int
    /// The same for one process, in bytes.
    public var memoryPerProcess: Int
    /// How long a frame waits for that memory, in seconds.
    public var timeout: Int
    /// Threads for slow operations, of all users together.
    public var slowThreads: Int
    /// Slow operations of one user that run at the same time.
    public var slowWorkPerUser: Int
    /// Key derivations that run at the same time, of all users together: each takes up to 256 MiB.
    public var derivations: Int

    public init(
        connectionsPerUser: Int = 256, connectionsPerProcess: Int = 128, watchersPerUser: Int = 64,
        sessionsPerUser: Int = 16, connections: Int = 2048, memoryPerUser: Int = 64 << 20,
        memoryPerProcess: Int = 32 << 20, timeout: Int = 20, slowThreads: Int = 16, slowWorkPerUser: Int = 2,
        derivations: Int = 4
    ) {
        self.connectionsPerUser = connectionsPerUser
        self.connectionsPerProcess = connectionsPerProcess
        self.watchersPerUser = watchersPerUser
        self.sessionsPerUser = sessionsPerUser
        self.connections = connections
        self.memoryPerUser = memoryPerUser
        self.memoryPerProcess = memoryPerProcess
        self.timeout = timeout
        self.slowThreads = slowThreads
        self.slowWorkPerUser = slowWorkPerUser
        self.derivations = derivations
    }

    /// The limits of a session. A user can have several sessions, so they are smaller.
    var ofSession: ServerLimits {
        var limits = self
        limits.connectionsPerUser = connectionsPerUser / 8
        limits.connectionsPerProcess = connectionsPerProcess / 8
        limits.sessionsPerUser = 0
        return limits
    }
}
