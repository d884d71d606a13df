// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem
internal import NIOCore
internal import TransportPolicy

/// The connections for requests that may share them.
final class ConnectionPool: Sendable {
    private let state: SystemMutex<PoolState>
    private let idleTimeout: TimeAmount

    init(maxConnections: Int, isSecure: Bool, idleTimeout: TimeAmount) {
        state = SystemMutex(PoolState(maxConnections: maxConnections, isSecure: isSecure))
        self.idleTimeout = idleTimeout
    }

    var isEmpty: Bool { state.withLock { $0.isEmpty } }

    // MARK: Requests

    /// Returns a connection, or the permission to make one, as soon as there is one.
    func lease() async throws(HTTPFailure) -> PoolState.Grant {
        let identifier = state.withLock { state in
            state.nextIdentifier += 1
            return state.nextIdentifier
        }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation {
                (continuation: CheckedContinuation<Result<PoolState.Grant, HTTPFailure>, Never>) in
                let result = state.withLock { state -> Result<PoolState.Grant, HTTPFailure>? in
                    if Task.isCancelled { return .failure(.cancelled) }
                    if state.isClosed { return .failure(.closed) }
                    if state.waiters.isEmpty, let grant = state.grant() { return .success(grant) }
                    state.waiters.append(PoolState.Waiter(identifier: identifier, continuation: continuation))
                    return nil
                }
                if let result { continuation.resume(returning: result) }
            }
        } onCancel: {
            let waiter = state.withLock { state -> PoolState.Waiter? in
                guard let index = state.waiters.firstIndex(where: { $0.identifier == identifier }) else { return nil }
                return state.waiters.remove(at: index)
            }
            waiter?.continuation.resume(returning: .failure(.cancelled))
        }
        return try result.get()
    }

    /// Takes a new connection of a request that had the permission. The request uses it first.
    ///
    /// - Throws: if the pool was closed.
    func add(_ connection: PooledConnection) throws(HTTPFailure) {
        let isClosed = state.withLock { state in
            state.connecting -= 1
            guard !state.isClosed else { return true }
            if connection.isMultiplexed {
                state.version = .http2
                state.multiplexed.append(PoolState.Multiplexed(connection: connection, streams: 1))
            } else {
                state.version = .http1
                state.leased[ObjectIdentifier(connection)] = connection
            }
            return false
        }
        guard !isClosed else {
            connection.close()
            throw .closed
        }
        connection.channel.closeFuture.whenComplete { [weak self] _ in self?.remove(connection) }
        dispatch()
    }

    /// A request could not make its connection. Others that wait for the same one fail with it, unless
    /// there are connections to wait for.
    func connectionFailed(_ failure: HTTPFailure) {
        let waiters = state.withLock { state -> [PoolState.Waiter] in
            state.connecting -= 1
            guard failure.code != .cancelled, state.connecting == 0, state.leased.isEmpty, state.multiplexed.isEmpty
            else { return [] }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.continuation.resume(returning: .failure(failure)) }
        dispatch()
    }

    /// An exchange over HTTP/1.1 ended.
    func release(_ connection: PooledConnection, isReusable: Bool) {
        guard isReusable else { return remove(connection) }
        let expiry = connection.channel.eventLoop.scheduleTask(in: idleTimeout) { [weak self] () -> Void in
            self?.expire(connection)
        }
        let isKept = state.withLock { state in
            guard state.leased.removeValue(forKey: ObjectIdentifier(connection)) != nil, !state.isClosed,
                connection.channel.isActive
            else { return false }
            state.idle.append(PoolState.Idle(connection: connection, expiry: expiry))
            return true
        }
        if !isKept {
            expiry.cancel()
            connection.close()
        }
        dispatch()
    }

    /// An exchange over HTTP/2 ended.
    ///
    /// - Parameter isHealthy: whether the connection may be used for others.
    func releaseStream(of connection: PooledConnection, isHealthy: Bool) {
        let expiry = connection.channel.eventLoop.scheduleTask(in: idleTimeout) { [weak self] () -> Void in
            self?.expire(connection)
        }
        let (isUnused, isIdle) = state.withLock { state -> (Bool, Bool) in
            guard let index = state.multiplexed.firstIndex(where: { $0.connection === connection }) else {
                return (false, false)
            }
            state.multiplexed[index].streams -= 1
            if !isHealthy { connection.limits?.drain() }
            guard state.multiplexed[index].streams == 0 else { return (false, false) }
            if state.multiplexed[index].isDraining || state.isClosed { return (true, false) }
            state.multiplexed[index].expiry?.cancel()
            state.multiplexed[index].expiry = expiry
            return (false, true)
        }
        if !isIdle { expiry.cancel() }
        if isUnused { connection.close() }
        dispatch()
    }

    // MARK: Connections

    /// The server has changed how many streams it takes.
    func limitsChanged() {
        let unused = state.withLock { state in
            state.multiplexed.filter { $0.isDraining && $0.streams == 0 }.map(\.connection)
        }
        for connection in unused { connection.close() }
        dispatch()
    }

    /// Closes idle connections, before a request is tried again.
    func closeIdle() {
        let idle = state.withLock { state in
            defer { state.idle = [] }
            return state.idle
        }
        for entry in idle { entry.close() }
    }

    /// Closes unused connections, now and later.
    func retire() {
        let unused = state.withLock { state in
            state.isClosed = true
            return state.multiplexed.filter { $0.streams == 0 }.map(\.connection)
        }
        for connection in unused { connection.close() }
        closeIdle()
    }

    func close() {
        let (waiters, idle, others) = state.withLock { state in
            state.isClosed = true
            defer { (state.waiters, state.idle) = ([], []) }
            return (state.waiters, state.idle, Array(state.leased.values) + state.multiplexed.map(\.connection))
        }
        for waiter in waiters { waiter.continuation.resume(returning: .failure(.closed)) }
        for entry in idle { entry.close() }
        for connection in others { connection.close() }
    }

    private func expire(_ connection: PooledConnection) {
        let isUnused = state.withLock { state in
            if let index = state.idle.firstIndex(where: { $0.connection === connection }) {
                state.idle.remove(at: index)
                return true
            }
            guard let index = state.multiplexed.firstIndex(where: { $0.connection === connection && $0.streams == 0 })
            else { return false }
            state.multiplexed.remove(at: index)
            return true
        }
        if isUnused { connection.close() }
    }

    private func remove(_ connection: PooledConnection) {
        let expiry = state.withLock { state -> Scheduled<Void>? in
            state.leased[ObjectIdentifier(connection)] = nil
            if let index = state.idle.firstIndex(where: { $0.connection === connection }) {
                return state.idle.remove(at: index).expiry
            }
            guard let index = state.multiplexed.firstIndex(where: { $0.connection === connection }) else { return nil }
            return state.multiplexed.remove(at: index).expiry
        }
        expiry?.cancel()
        dispatch()
    }

    /// Gives waiting requests the grants that have become free.
    private func dispatch() {
        let granted = state.withLock { $0.isClosed ? [] : $0.grants() }
        for (waiter, grant) in granted { waiter.continuation.resume(returning: .success(grant)) }
    }
}

extension PoolState.Idle {
    fileprivate func close() {
        expiry?.cancel()
        connection.close()
    }
}
