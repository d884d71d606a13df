// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import LinuxSystem
internal import NIOCore
internal import NIOHTTP1

/// The head of a final response.
struct ResponseHead: Sendable {
    let status: Int
    let fields: [HTTPField]
}

/// One attempt of an exchange: the state that the task of the program and the event loop of the connection share.
final class ActiveExchange: Sendable {
    let request: PreparedRequest
    let inactivity: TimeAmount
    /// Called with the number of sent bytes of the body.
    let sent: (@Sendable (Int) -> Void)?
    let limits: HTTPLimits
    let body: ResponseBuffer
    let times: SystemMutex<HTTPTimes>

    private let eventLoop: any EventLoop
    private let handler: NIOLoopBound<ExchangeHandler>
    private let head: EventLoopPromise<ResponseHead>
    /// Sends a body that the program streams.
    private let upload = SystemMutex<Task<Void, Never>?>(nil)

    init(
        _ request: PreparedRequest, on handler: NIOLoopBound<ExchangeHandler>, _ eventLoop: any EventLoop,
        inactivity: TimeAmount, limits: HTTPLimits, times: HTTPTimes, sent: (@Sendable (Int) -> Void)?
    ) {
        (self.request, self.inactivity, self.sent, self.limits) = (request, inactivity, sent, limits)
        (self.handler, self.eventLoop) = (handler, eventLoop)
        self.times = SystemMutex(times)
        head = eventLoop.makePromise()
        body = ResponseBuffer { eventLoop.execute { handler.value.resumeReading() } }
    }

    // MARK: The program's side

    /// Sends the request; returns the head of the response.
    ///
    /// - Throws: `AttemptFailure`.
    func responseHead() async throws -> ResponseHead {
        let handler = handler
        return try await withTaskCancellationHandler {
            eventLoop.execute { handler.value.begin(self) }
            startUpload()
            return try await head.futureResult.get()
        } onCancel: {
            cancel(.cancelled)
        }
    }

    /// Ends the exchange, if it has not ended yet.
    func cancel(_ failure: HTTPFailure) {
        let handler = handler
        eventLoop.execute { handler.value.cancel(self, AttemptFailure(failure: failure)) }
    }

    // MARK: The request's body

    /// The task has the values of the program's task.
    private func startUpload() {
        guard case .stream(let length, let next) = request.body else { return }
        let body = RequestUpload(length: length, next: next)
        let task = Task { await body.run(self) }
        upload.withLock { $0 = task }
    }

    private func stopUpload() {
        let task = upload.withLock { upload in
            defer { upload = nil }
            return upload
        }
        task?.cancel()
    }

    /// Sends a part of the body; returns when the connection accepts more.
    func send(_ chunk: ByteBuffer) async throws {
        let (handler, promise) = (handler, eventLoop.makePromise(of: Void.self))
        eventLoop.execute { handler.value.send(chunk, for: self, promise) }
        try await promise.futureResult.get()
    }

    func endBody() {
        let handler = handler
        eventLoop.execute { handler.value.endBody(of: self) }
    }

    // MARK: The event loop's side

    func began() { times.withLock { $0.requestStart = Date() } }
    func sentRequest() { times.withLock { $0.requestEnd = Date() } }

    func received(_ response: ResponseHead) {
        times.withLock { $0.responseStart = Date() }
        head.succeed(response)
    }

    func ended() {
        stopUpload()
        body.end(.success(()))
    }

    func failed(_ failure: AttemptFailure) {
        stopUpload()
        head.fail(failure)
        body.end(.failure(failure.failure))
    }
}
