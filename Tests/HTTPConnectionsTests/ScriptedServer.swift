// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import NIOCore
import NIOPosix
import NIOSSL

/// A server on loopback that sends the bytes of a script.
final class ScriptedServer: Sendable {
    enum Step: Sendable {
        /// Waits for the end of a head.
        case request
        /// Waits for bytes.
        case bytes(Int)
        case send([UInt8])
        /// Sends the bytes again and again, until the client ends the connection.
        case flood([UInt8])
        /// Sends so many bytes so many times, at the pace of the client.
        case repeated(Int, Int)
        /// Sends one byte every 20 milliseconds.
        case drip([UInt8])
        case close

        static func text(_ text: String) -> Step { .send(Array(text.utf8)) }
    }

    /// A connection that a script serves; a client that connects more often gets the last one again.
    typealias Script = [Step]

    let port: Int
    /// The bytes that each connection received, in the order of their beginnings.
    let received = Collected<ReceivedBytes>()
    /// The writes of steps that are repeated.
    let written = EventCount()
    private let channel: any Channel

    /// - Parameter autoRead: whether the server reads the bytes after the head of a request.
    init(_ scripts: [Script], _ context: NIOSSLContext? = nil, autoRead: Bool = true) async throws {
        let (received, number, written) = (received, EventCount(), written)
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                let script = scripts[min(number.value, scripts.count - 1)]
                number.increase()
                let bytes = ReceivedBytes()
                received.append(bytes)
                return channel.eventLoop.makeCompletedFuture {
                    if let context {
                        try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                    }
                    try channel.pipeline.syncOperations.addHandler(ScriptHandler(script, bytes, written, autoRead))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        port = channel.localAddress?.port ?? 0
    }

    var connectionCount: Int { received.all.count }
    var url: String { "http://localhost:\(port)/" }
    var secureURL: String { "https://localhost:\(port)/" }

    deinit { channel.close(promise: nil) }
}

/// The bytes that one connection received.
final class ReceivedBytes: Sendable {
    private let bytes = Collected<[UInt8]>()
    func append(_ more: [UInt8]) { bytes.append(more) }
    var text: String { String(decoding: bytes.all.joined(), as: UTF8.self) }
    var count: Int { bytes.all.reduce(0) { $0 + $1.count } }
}

private final class ScriptHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var steps: ArraySlice<ScriptedServer.Step>
    private let record: ReceivedBytes
    private var unread = ByteBuffer()
    private var isBusy = false

    private let written: EventCount
    private let autoRead: Bool

    init(_ steps: ScriptedServer.Script, _ record: ReceivedBytes, _ written: EventCount, _ autoRead: Bool) {
        (self.steps, self.record, self.written, self.autoRead) = (steps[...], record, written, autoRead)
    }

    func channelActive(context: ChannelHandlerContext) { run(context) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        record.append(Array(buffer: bytes))
        unread.writeImmutableBuffer(bytes)
        if !autoRead { _ = context.channel.setOption(.autoRead, value: false) }
        run(context)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) { run(context) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func run(_ context: ChannelHandlerContext) {
        guard !isBusy, context.channel.isActive else { return }
        isBusy = true
        defer { isBusy = false }
        while let step = steps.first, perform(step, context) { steps = steps.dropFirst() }
    }

    /// Returns whether the step is done.
    private func perform(_ step: ScriptedServer.Step, _ context: ChannelHandlerContext) -> Bool {
        switch step {
        case .request:
            guard let end = unread.readableBytesView.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound else {
                return false
            }
            unread.moveReaderIndex(to: end)
        case .bytes(let count):
            guard unread.readableBytes >= count else { return false }
            unread.moveReaderIndex(forwardBy: count)
        case .send(let bytes): write(bytes, context)
        case .flood(let bytes):
            var rounds = 0
            while context.channel.isWritable, context.channel.isActive, rounds < 64 {
                write(bytes, context)
                rounds += 1
            }
            if context.channel.isWritable { later(context, .milliseconds(1)) }
            return false
        case .repeated(let length, let count):
            guard count > 0 else { return true }
            guard context.channel.isWritable else { return false }
            write([UInt8](repeating: 0x61, count: length), context)
            written.increase()
            steps[steps.startIndex] = .repeated(length, count - 1)
            return perform(steps[steps.startIndex], context)
        case .drip(let bytes):
            guard let first = bytes.first else { return true }
            write([first], context)
            steps[steps.startIndex] = .drip(Array(bytes.dropFirst()))
            later(context, .milliseconds(20))
            return false
        case .close: context.close(promise: nil)
        }
        return true
    }

    private func later(_ context: ChannelHandlerContext, _ delay: TimeAmount) {
        let (this, reference) = (
            NIOLoopBound(self, eventLoop: context.eventLoop), NIOLoopBound(context, eventLoop: context.eventLoop)
        )
        context.eventLoop.scheduleTask(in: delay) { this.value.run(reference.value) }
    }

    private func write(_ bytes: [UInt8], _ context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
    }
}
