// SPDX-License-Identifier: Apache-2.0

internal import LatchkeyNIOSSL
internal import LinuxSystem
internal import NIOCore

/// An exchange over one reused or new connection.
struct ExchangeAttempt: Sendable {
    let request: HTTPRequest
    let review: (any ServerReview)?
    let inactivity: TimeAmount
    let purpose: LoadPurpose
    let sent: (@Sendable (Int) -> Void)?
    let proxy: HTTPProxy?
    let pool: ConnectionPool
    let client: TLSClient
    let configuration: HTTPConnections.Configuration

    func run() async throws(AttemptFailure) -> HTTPExchange {
        let (connection, isReused) = try await connection()
        do {
            return try await exchange(connection, isReused: isReused)
        } catch {
            var failure = error as? AttemptFailure ?? ChannelErrors.failure(error, nil)
            if Task.isCancelled { failure = AttemptFailure(failure: .cancelled) }
            // A new connection that ends at once would do so again.
            if !isReused, failure.repetition == .ifRepeatable { failure.repetition = .none }
            throw failure
        }
    }

    func mayRepeat(after failure: AttemptFailure) -> Bool {
        switch failure.repetition {
        case .none: false
        case .ifRepeatable: request.isRepeatable
        case .safe: request.hasReplayableBody
        }
    }

    private func connection() async throws(AttemptFailure) -> (PooledConnection, isReused: Bool) {
        do throws(HTTPFailure) {
            switch try await pool.lease() {
            case .connection(let connection, let isReused): return (connection, isReused)
            case .permission: return (try await newConnection(), false)
            }
        } catch {
            throw AttemptFailure(failure: error)
        }
    }

    private func newConnection() async throws(HTTPFailure) -> PooledConnection {
        let connection: PooledConnection
        do throws(HTTPFailure) {
            let tls = request.target.isSecure ? try PreparedTLS(client, request.target, purpose, review) : nil
            connection = try await Connector(request.target, proxy, tls, configuration, pool).connection()
        } catch {
            pool.connectionFailed(error)
            throw error
        }
        try pool.add(connection)
        return connection
    }

    private func exchange(_ connection: PooledConnection, isReused: Bool) async throws -> HTTPExchange {
        let handler: NIOLoopBound<ExchangeHandler>
        let prepared: PreparedRequest
        do {
            prepared = try PreparedRequest(request, through: proxy, isMultiplexed: connection.isMultiplexed)
            handler = try await connection.handler(pool)
        } catch {
            if connection.isMultiplexed {
                pool.releaseStream(of: connection, isHealthy: true)
            } else {
                pool.release(connection, isReusable: true)
            }
            throw error
        }
        let active = ActiveExchange(
            prepared, on: handler, connection.channel.eventLoop, inactivity: inactivity, limits: configuration.limits,
            times: isReused ? HTTPTimes() : connection.times, sent: sent)
        let head = try await active.responseHead()
        let codings = prepared.decodesContent ? try ContentCoding.applied(head.fields) : []
        var facts = connection.facts
        facts.isReused = isReused
        return HTTPExchange(
            status: head.status, version: connection.isMultiplexed ? "2" : "1.1", fields: head.fields,
            body: HTTPResponseBody(
                reader: BodyReader(active), codings: codings, maxDecodedRatio: configuration.limits.maxDecodedRatio),
            connection: facts, times: active.times.withLock { $0 })
    }
}
