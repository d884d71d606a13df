// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Synchronization

/// An HTTP server on 127.0.0.1 that responds as a test specifies and records the requests.
public final class LoopbackServer: Sendable {
    public struct Request: Sendable {
        public let method: String
        /// The path and the query of the URL.
        public let target: String
        public let content: [UInt8]
    }

    public enum Reply: Sendable {
        case content([UInt8])
        /// Another status than 200, with these header lines.
        case status(Int, [String])
        /// Exactly these bytes, then the end of the connection.
        case raw([UInt8])
        /// Nothing, until the client ends the connection.
        case silence
        /// The content, one byte every tenth of a second.
        case drip([UInt8])
    }

    public let port: Int
    private let listener: Int32
    private let asked = Mutex<[Request]>([])
    private let answer: @Sendable (Request) throws -> Reply

    public init(_ answer: @escaping @Sendable (Request) throws -> Reply) throws {
        self.answer = answer
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let (socket, size) = (listener, length)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, size) == 0 && listen(socket, 16) == 0 && getsockname(socket, $0, &length) == 0
            }
        }
        guard listener >= 0, isListening else { throw POSIXError(.EADDRNOTAVAIL) }
        port = Int(UInt16(bigEndian: address.sin_port))
        Thread.detachNewThread { [weak self, socket] in
            while true {
                let connection = accept(socket, nil, nil)
                guard connection >= 0 else { return }
                Thread.detachNewThread { [weak self] in
                    self?.serve(connection)
                    close(connection)
                }
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    /// Returns a URL of the server for a path such as `/crl`.
    public func url(_ target: String) -> String { "http://127.0.0.1:\(port)\(target)" }

    /// The requests until now.
    public var requests: [Request] { asked.withLock { $0 } }

    private func serve(_ connection: Int32) {
        guard let request = Self.read(connection) else { return }
        asked.withLock { $0.append(request) }
        let ok = Array("HTTP/1.0 200 OK\r\n\r\n".utf8)
        switch (try? answer(request)) ?? .status(500, []) {
        case .content(let bytes): send(ok + bytes, connection)
        case .status(let code, let lines):
            send(Array((["HTTP/1.0 \(code) No"] + lines + ["", ""]).joined(separator: "\r\n").utf8), connection)
        case .raw(let bytes): send(bytes, connection)
        case .silence:
            var byte: UInt8 = 0
            _ = recv(connection, &byte, 1, 0)
        case .drip(let bytes):
            send(ok, connection)
            for byte in bytes where send([byte], connection) { usleep(100_000) }
        }
    }

    @discardableResult
    private func send(_ bytes: [UInt8], _ connection: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes { Glibc.send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard sent > 0 else { return false }
            rest = rest.dropFirst(sent)
        }
        return true
    }

    private static func read(_ connection: Int32) -> Request? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            if let request = request(bytes) { return request }
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return nil }
            bytes += buffer.prefix(count)
        }
    }

    /// Parses a request; returns nil until it is complete.
    private static func request(_ bytes: [UInt8]) -> Request? {
        let text = String(decoding: bytes, as: Unicode.ASCII.self)
        guard let end = text.range(of: "\r\n\r\n") else { return nil }
        let lines = text[..<end.lowerBound].split(separator: "\r\n")
        let words = (lines.first ?? "").split(separator: " ").map(String.init)
        let length = lines.first { $0.lowercased().hasPrefix("content-length:") }?.split(separator: ":").last
        let wanted = length.flatMap { Int($0.trimmingCharacters(in: .whitespaces)) } ?? 0
        let header = text[..<end.upperBound].unicodeScalars.count
        guard bytes.count >= header + wanted, words.count > 1 else { return nil }
        return Request(method: words[0], target: words[1], content: Array(bytes[header...]))
    }
}
