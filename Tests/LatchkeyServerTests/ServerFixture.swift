// SPDX-License-Identifier: Apache-2.0

import Glibc
import KeychainModel
import KeychainTesting
import LatchkeyOperations
import LatchkeyProtocol
@testable import LatchkeyServer
@_spi(Testing) import LatchkeyService
import LinuxSystem
import SecretMemory

/// A server in this process, and raw connections to it.
final class ServerFixture {
    let directory: TemporaryDirectory
    let clock = TestClock()
    let server: KeychainServer
    let caller = CallerIdentity(executable: "/usr/bin/example", declaredGroups: ["G1", "G2"])

    init(limits: ServerLimits = ServerLimits(), directory: TemporaryDirectory? = nil) throws {
        self.directory = try directory ?? TemporaryDirectory()
        server = try TestKeychain.server(on: self.directory, clock: clock, limits: limits)
    }

    deinit { server.stop(timeout: 60) }

    /// Waits until the server has marked all its connections as idle, shortly after its last
    /// response.
    func waitUntilIdle() {
        _ = eventually { server.registry.busyCount == 0 }
    }

    /// Returns a connection without any sent bytes.
    func socket(as caller: CallerIdentity? = nil) throws -> Socket {
        let (ownEnd, peerEnd) = try Socket.pair()
        server.serve(peerEnd, as: caller ?? self.caller)
        return ownEnd
    }

    /// Returns a connection after the exchange of hello and welcome.
    func client(as caller: CallerIdentity? = nil) throws -> RawClient {
        let client = RawClient(try socket(as: caller))
        try client.hello()
        return client
    }
}

/// A client that sends the messages that a test specifies.
final class RawClient {
    let socket: Socket
    let channel: FrameChannel
    private var number: UInt64 = 0

    init(_ socket: Socket) {
        self.socket = socket
        channel = FrameChannel(socket)
        // Without a timeout, a test would wait permanently for a missing response.
        socket.setTimeouts(receiving: 300)
    }

    @discardableResult
    func hello() throws -> Response {
        try ask(Hello(claim: CallerIdentity(executable: "/usr/bin/example")))
    }

    func send(_ operation: any KeychainOperation, token: [UInt8]? = nil) throws {
        number += 1
        var request = NumberedRequest(number: number, operation)
        request.token = token ?? (request.isChange ? RandomBytes.array(count: 16) : [])
        try channel.send(try request.frame())
    }

    /// Returns the next response; nil at the end of the connection.
    func receive() throws -> Response? {
        do throws(WireError) {
            return try channel.receive().map { (frame, _) throws(WireError) in try NumberedResponse(frame).response }
        } catch {
            if case .ended = error { return nil }
            throw error
        }
    }

    func ask(_ operation: any KeychainOperation, token: [UInt8]? = nil) throws -> Response {
        try send(operation, token: token)
        while let response = try receive() {
            if !response.moreFollows { return response }
        }
        throw WireError.ended
    }

    func sendBytes(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty { rest = try rest.withUnsafeBytes { rest.dropFirst(try socket.send($0)) } }
    }
}

enum Items {
    static func addition(_ account: String, data: String = "v", group: String? = nil) -> ItemAddition {
        ItemAddition(
            .genericPassword, attributes: [.account: .string(account), .service: .string("s")],
            secrets: ItemSecrets(data: SharedSecret(copying: data.utf8)), accessGroup: group)
    }

    static func query(_ account: String? = nil, limit: MatchLimit = .one) -> ItemQuery {
        var attributes: [ItemAttribute: AttributeValue] = [.service: .string("s")]
        if let account { attributes[.account] = .string(account) }
        return ItemQuery(.genericPassword, attributes: attributes, limit: limit)
    }
}

extension Response {
    /// The error of a failure; nil for other responses.
    var problem: KeychainError? {
        guard case .failure(let error) = self else { return nil }
        return error
    }

    var texts: [String] {
        switch self {
        case .content(let record as ItemRecord): [record].map(\.text)
        case .content(let found as FoundItems): found.matches.records.map(\.text)
        default: []
        }
    }
}

extension ItemRecord {
    var text: String { secrets?.data?.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } ?? "" }
}
