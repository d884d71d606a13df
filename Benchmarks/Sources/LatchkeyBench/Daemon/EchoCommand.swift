// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Glibc

/// A plain exchange over a Unix socket: a request and a response of given sizes, with an optional duration of work
/// between them. The command is either the server, or the client, and the client prints the timings.
struct EchoCommand: ParsableCommand {
    static let name = "echo"
    static let configuration = CommandConfiguration(
        commandName: name, abstract: "Exchange bytes over a socket; started by `daemon`.")

    @Option var socket: String
    @Option var request: Int
    @Option var response: Int
    @Flag var serve = false
    /// The time that the server is busy in each exchange, in nanoseconds.
    @Option var work = 0
    @Option var threads = 1
    @Option var calls = 1

    func run() throws {
        if serve { return try serveForEver() }
        let outcome = try ThreadedRun.measure(threads: threads, calls: calls) { _ in
            let descriptor = try LocalSocket.connect(socket)
            var there = [UInt8](repeating: 1, count: request)
            var back = [UInt8](repeating: 0, count: response)
            return { _ in
                let (isWhole, time) = Stopwatch.time {
                    LocalSocket.send(descriptor, &there) && LocalSocket.receive(descriptor, &back)
                }
                guard isWhole else { throw BenchmarkFailure("the echo ended") }
                return time
            }
        }
        print(String(decoding: try JSONEncoder().encode(outcome), as: UTF8.self))
    }

    private func serveForEver() throws {
        let listener = try LocalSocket.listen(socket)
        while true {
            let connection = accept(listener, nil, nil)
            guard connection >= 0 else { continue }
            Thread {
                var there = [UInt8](repeating: 0, count: request)
                var back = [UInt8](repeating: 2, count: response)
                while LocalSocket.receive(connection, &there) {
                    let end = Stopwatch.now() + UInt64(max(0, work))
                    while work > 0, Stopwatch.now() < end {}
                    guard LocalSocket.send(connection, &back) else { break }
                }
                close(connection)
            }.start()
        }
    }
}

/// The minimum of stream sockets that the benchmark needs.
enum LocalSocket {
    static func connect(_ path: String) throws -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        let status = try withAddress(path) { Glibc.connect(descriptor, $0, $1) }
        guard status == 0 else {
            close(descriptor)
            throw BenchmarkFailure("no process listens at \(path)")
        }
        return descriptor
    }

    static func listen(_ path: String) throws -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        guard try withAddress(path, { bind(descriptor, $0, $1) }) == 0, Glibc.listen(descriptor, 128) == 0 else {
            throw BenchmarkFailure("cannot listen at \(path)")
        }
        return descriptor
    }

    static func send(_ descriptor: Int32, _ bytes: inout [UInt8]) -> Bool {
        Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    }

    static func receive(_ descriptor: Int32, _ bytes: inout [UInt8]) -> Bool {
        var filled = 0
        while filled < bytes.count {
            let count = bytes.count - filled
            let got = bytes.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress?.advanced(by: filled), count, 0) }
            guard got > 0 else { return false }
            filled += got
        }
        return true
    }

    private static func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) throws
        -> Int32
    {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        guard path.utf8.count < MemoryLayout.size(ofValue: address.sun_path) else {
            throw BenchmarkFailure("\(path) is too long for a socket")
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let length = socklen_t(MemoryLayout<sockaddr_un>.size)
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }
}
