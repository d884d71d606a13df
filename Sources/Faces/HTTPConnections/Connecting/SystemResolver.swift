// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Glibc
internal import LatchkeyNIOSSL
internal import LinuxSystem
internal import NIOCore
internal import NIOPosix

/// Looks up the addresses of both families with one call of getaddrinfo(3), on a thread that may
/// block.
final class SystemResolver: Resolver, Sendable {
    private let eventLoop: any EventLoop
    private let clock: ConnectionClock
    private let lookup = SystemMutex<EventLoopFuture<[SocketAddress]>?>(nil)

    struct NotFound: Error { let reason: String }

    init(_ eventLoop: any EventLoop, _ clock: ConnectionClock) { (self.eventLoop, self.clock) = (eventLoop, clock) }

    func initiateAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
        addresses(host, port).map { $0.filter { if case .v4 = $0 { true } else { false } } }
    }

    func initiateAAAAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
        addresses(host, port).map { $0.filter { if case .v6 = $0 { true } else { false } } }
    }

    /// getaddrinfo(3) cannot be interrupted; its result is not used.
    func cancelQueries() {}

    private func addresses(_ host: String, _ port: Int) -> EventLoopFuture<[SocketAddress]> {
        let (promise, clock) = (eventLoop.makePromise(of: [SocketAddress].self), clock)
        let begun = lookup.withLock { lookup in
            defer { lookup = lookup ?? promise.futureResult }
            return lookup
        }
        if let begun {
            promise.completeWith(begun)
            return begun
        }
        clock.set { $0.lookupStart = $1 }
        BlockingWork.run {
            let result = Result { try Self.resolve(host, port) }
            clock.set { $0.lookupEnd = $1 }
            promise.completeWith(result)
        }
        return promise.futureResult
    }

    private static func resolve(_ host: String, _ port: Int) throws -> [SocketAddress] {
        var (hints, first) = (addrinfo(), UnsafeMutablePointer<addrinfo>?.none)
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_protocol = Int32(IPPROTO_TCP)
        let code = getaddrinfo(host, String(port), &hints, &first)
        guard code == 0, let first else { throw NotFound(reason: String(cString: gai_strerror(code))) }
        defer { freeaddrinfo(first) }
        return sequence(first: first) { $0.pointee.ai_next }.compactMap { address($0.pointee, host) }
    }

    private static func address(_ info: addrinfo, _ host: String) -> SocketAddress? {
        guard let address = info.ai_addr else { return nil }
        switch info.ai_family {
        case AF_INET:
            return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                SocketAddress($0.pointee, host: host)
            }
        case AF_INET6:
            return address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                SocketAddress($0.pointee, host: host)
            }
        default: return nil
        }
    }
}
