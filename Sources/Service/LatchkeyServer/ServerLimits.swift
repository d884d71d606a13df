// SPDX-License-Identifier: Apache-2.0

/// What a server lends to the programs of one user, so that none of them takes it from the others.
public struct ServerLimits: Sendable {
    /// Connections of one user. Beyond them the one that was idle for longest is closed; its client connects again when it needs to.
    public var connectionsPerUser: Int
    /// Connections of one process.
    public var connectionsPerProcess: Int
    /// Connections that only wait for a change of the lock, of one user.
    public var watchersPerUser: Int
    /// Sessions of one user, each with connections of its own.
    public var sessionsPerUser: Int
    /// Connections of all users together.
    public var connections: Int
    /// The memory of large frames and results that are on their way, of one user, in bytes.
    public var memoryPerUser: Int
    /// The same of one process.
    public var memoryPerProcess: Int
    /// How long a frame waits for such memory, in seconds.
    public var timeout: Int
    /// Threads for slow operations, of all users together.
    public var slowThreads: Int
    /// Slow operations of one user that run at a time.
    public var slowWorkPerUser: Int
    /// Key derivations that run at a time, of all users together: each takes up to 256 MiB.
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

    /// What a session lends, which is one of several of its user's.
    var ofSession: ServerLimits {
        var limits = self
        limits.connectionsPerUser = connectionsPerUser / 8
        limits.connectionsPerProcess = connectionsPerProcess / 8
        limits.sessionsPerUser = 0
        return limits
    }
}
