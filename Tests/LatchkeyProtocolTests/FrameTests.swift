// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
@testable import LatchkeyProtocol
import LinuxSystem
import SecretMemory
import Synchronization
import Testing

/// Frames over real sockets.
@Suite("Frames")
struct FrameTests {
    @Test(
        "WIRE-1: frames of every size arrive as they were sent, also many in a row",
        arguments: [0, 1, 100, 4096, 5000, 1 << 20, 4 << 20])
    func sizes(_ size: Int) throws {
        let (one, other) = try Socket.pair()
        let frames = [
            Frame(message: [], secrets: []), Frame(message: RandomBytes.array(count: min(size, 4 << 20))),
            Frame(
                message: [1],
                secrets: [SharedSecret(SecretBytes.random(count: size)), SharedSecret(SecretBytes.random(count: 0))]),
            Frame(
                message: RandomBytes.array(count: size / 2),
                secrets: (0..<200).map { _ in SharedSecret(SecretBytes.random(count: 7)) }),
        ]
        let sender = FrameChannel(one)
        BackgroundThread.run { for frame in frames { _ = try? sender.send(frame) } }
        let receiver = FrameChannel(other)
        for frame in frames {
            let received = try #require(try receiver.receive()?.frame)
            #expect(received.message == frame.message)
            #expect(received.secrets == frame.secrets)
        }
    }

    @Test("WIRE-1: a frame that arrives byte by byte is the same frame")
    func slowly() throws {
        let (one, other) = try Socket.pair()
        let (copy, sink) = try Socket.pair()
        let frame = Frame(message: Array("a message".utf8), secrets: [SharedSecret(copying: "a secret".utf8)])
        try FrameChannel(copy).send(frame)
        var bytes = [UInt8](repeating: 0, count: 200)
        let count = try bytes.withUnsafeMutableBytes { try sink.receive(into: $0) }
        let sent = bytes.prefix(count)
        BackgroundThread.run {
            for byte in sent {
                withUnsafeBytes(of: byte) { _ = try? one.send($0) }
                usleep(200)
            }
        }
        let received = try #require(try FrameChannel(other).receive()?.frame)
        #expect(received.message == frame.message && received.secrets == frame.secrets)
    }

    @Test("WIRE-2: a frame that is truncated at any length ends the connection, and no part of it is decoded")
    func cuts() throws {
        let (copy, sink) = try Socket.pair()
        try FrameChannel(copy).send(Frame(message: [1, 2, 3], secrets: [SharedSecret(copying: "abc".utf8)]))
        var bytes = [UInt8](repeating: 0, count: 100)
        let count = try bytes.withUnsafeMutableBytes { try sink.receive(into: $0) }
        for length in 0..<count {
            let (one, other) = try Socket.pair()
            try bytes.prefix(length).withUnsafeBytes { if !$0.isEmpty { _ = try one.send($0) } }
            shutdown(one.descriptor, Int32(SHUT_WR))
            let receiver = FrameChannel(other)
            if length == 0 {
                #expect(try receiver.receive() == nil)
            } else {
                #expect(throws: WireError.self) { try receiver.receive() }
            }
        }
    }

    @Test(
        "WIRE-3: a frame that announces more than the limits is rejected before memory is allocated for it",
        arguments: [
            ([0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0], "4294967295 bytes"), ([0, 0x40, 0, 1, 0, 0, 0, 0], "4194305 bytes"),
            ([0, 0, 0, 0, 0, 0, 1, 1], "257 secrets"), ([0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF], "4294967295 secrets"),
            ([0, 0, 0, 0, 0, 0, 0, 1, 0xFF, 0xFF, 0xFF, 0xFF], "4294967295 bytes of secrets"),
            ([0, 0, 0, 0, 0, 0, 0, 2, 0, 0x50, 0, 0, 0, 0, 0, 1], "5242881 bytes of secrets"),
        ] as [([UInt8], String)])
    func announcements(_ bytes: [UInt8], _ words: String) throws {
        let (one, other) = try Socket.pair()
        try bytes.withUnsafeBytes { _ = try one.send($0) }
        let asked = Mutex(0)
        let receiver = FrameChannel(other) { (length) throws(WireError) in
            asked.withLock { $0 += length }
            return nil
        }
        let error = #expect(throws: WireError.self) { try receiver.receive() }
        #expect("\(try #require(error))".contains(words), "\(String(describing: error))")
        #expect(asked.withLock { $0 } == 0)
    }

    @Test("The memory that a large frame needs is reserved before any is allocated")
    func reservation() throws {
        let (one, other) = try Socket.pair()
        let asked = Mutex<[Int]>([])
        let receiver = FrameChannel(other) { (length) throws(WireError) in
            asked.withLock { $0.append(length) }
            throw .slow
        }
        // Only the head: the rest is never read.
        try ([0, 0x10, 0, 0, 0, 0, 0, 1, 0, 0, 0x10, 0] as [UInt8]).withUnsafeBytes { _ = try one.send($0) }
        #expect(throws: WireError.self) { try receiver.receive() }
        #expect(asked.withLock { $0 } == [12 + 1_048_576 + 4096])
    }

    @Test("The sender rejects a frame that would be too large, and the message has its sizes")
    func tooLarge() throws {
        let (one, _) = try Socket.pair()
        let error = #expect(throws: WireError.self) {
            try FrameChannel(one).send(
                Frame(message: [], secrets: [SharedSecret(SecretBytes(count: 6 << 20) { _ in })]))
        }
        #expect("\(try #require(error))".contains("6291456 bytes"))
    }

    @Test("A send without blocking never waits, and the frame after it arrives complete")
    func offers() throws {
        let (one, other) = try Socket.pair()
        let sender = FrameChannel(one)
        let large = Frame(message: [UInt8](repeating: 5, count: 100_000))
        // The receiver does not read, so that the socket becomes full.
        for _ in 0..<100 { try sender.sendWithoutBlocking(large) }
        BackgroundThread.run { _ = try? sender.send(Frame(message: [9])) }
        let receiver = FrameChannel(other)
        var last: [UInt8] = []
        while last != [9] {
            last = try #require(try receiver.receive()?.frame.message)
            #expect(last == [9] || last == large.message)
        }
    }
}
