// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Foundation
internal import FoundationNetworking
internal import HTTPConnections
internal import LinuxSystem
internal import NIOCore

/// Loads the request of a task, and hands the result to Foundation on the task's queue.
final class TaskLoad: Sendable {
    private struct State {
        var task: Task<Void, Never>?
        var isStopped = false
        var isTimedOut = false
    }

    private let client: ClientHandle
    private let binding: TaskBinding
    private let transport: LatchkeyTransport
    private let state = SystemMutex(State())
    private let gate = PauseGate()
    private let window = DeliveryWindow()

    init(_ client: ClientHandle, _ binding: TaskBinding, _ transport: LatchkeyTransport) {
        (self.client, self.binding, self.transport) = (client, binding, transport)
    }

    private var url: URL? { binding.task.originalRequest?.url }

    func start() {
        let task = Task { await self.run() }
        let isStopped = state.withLock { state in
            state.task = task
            return state.isStopped
        }
        if isStopped { task.cancel() }
    }

    /// After this, the client is not called.
    func stop() {
        let task = state.withLock { state in
            state.isStopped = true
            return state.task
        }
        task?.cancel()
        gate.open()
        window.open()
    }

    /// Delivers nothing more until `resume`; the server then waits as well.
    func pause() { gate.close() }
    func resume() { gate.open() }

    // MARK: Loading

    private func run() async {
        do throws(LoadError) { try await load() } catch {
            let isTimedOut = state.withLock { $0.isTimedOut }
            await fail(isTimedOut ? .timedOut(url) : error)
        }
    }

    private func load() async throws(LoadError) {
        guard let request = binding.task.currentRequest ?? binding.task.originalRequest else {
            throw LoadError(.badURL, "the task has no request", nil)
        }
        let connections: SessionConnections
        do throws(HTTPFailure) {
            connections = try .of(binding, transport)
        } catch { throw LoadError(error, request.url, nil) }
        let context = LoadContext(binding.session.configuration, transport, connections, knowing: binding.cacheEntry)
        let deadline = Deadlines.shared.after(context.resourceTimeout) { [weak self] in self?.timeOut() }
        defer { deadline.cancel() }
        let events = DelegateEvents(binding: binding, limit: context.timeout(of: request))
        let load = HTTPLoad(context: context, events: events)
        do throws(LoadError) {
            try await deliver(try await load.run(request, binding.body), load.metrics)
        } catch {
            report(load.metrics)
            throw error
        }
    }

    private func timeOut() {
        let task = state.withLock { state in
            state.isTimedOut = true
            return state.task
        }
        task?.cancel()
    }

    private func report(_ metrics: MetricsRecorder) {
        guard let delegate = binding.delegate as? any LatchkeyMetricsDelegate else {
            return
        }
        let (session, task, collected) = (binding.session, binding.task, metrics.collected)
        session.delegateQueue.addOperation {
            delegate.urlSession(session, task: task, didFinishCollecting: collected)
        }
    }

    // MARK: Delivery

    private func deliver(_ loaded: LoadedResponse, _ metrics: MetricsRecorder) async throws(LoadError) {
        let response = loaded.response
        switch loaded.body {
        case _ where binding.task is URLSessionDownloadTask: try await download(loaded, metrics)
        case .stored(let data): await finish(response, data, metrics)
        case .network(let body, let recorder) where binding.deliversOnce:
            let data = try await collect(body, recorder)
            await recorder?.end()
            await finish(response, data, metrics)
        case .network(let body, let recorder):
            await onQueue { $0.urlProtocol($1, didReceive: response, cacheStoragePolicy: .notAllowed) }
            try await stream(body, recorder)
            await recorder?.end()
            report(metrics)
            await onQueue { $0.urlProtocolDidFinishLoading($1) }
        }
    }

    /// Delivers a whole response.
    private func finish(_ response: HTTPURLResponse, _ data: Data, _ metrics: MetricsRecorder) async {
        report(metrics)
        await gate.wait()
        callOnQueue { client, load in
            client.urlProtocol(load, didReceive: response, cacheStoragePolicy: .notAllowed)
            if !data.isEmpty { client.urlProtocol(load, didLoad: data) }
            client.urlProtocolDidFinishLoading(load)
        }
    }

    /// Delivers the response as a file.
    private func download(_ loaded: LoadedResponse, _ metrics: MetricsRecorder) async throws(LoadError) {
        let response = loaded.response
        let file: DownloadedFile
        do throws(SystemError) {
            file = try await Blocking.value { Result { () throws(SystemError) in try DownloadedFile() } }.get()
        } catch { throw .file(error, url) }
        await onQueue { $0.urlProtocol($1, didReceive: response, cacheStoragePolicy: .notAllowed) }
        do throws(LoadError) {
            try await write(loaded.body, to: file, response)
        } catch {
            // Before the program knows of the failure: it may end at once.
            file.remove()
            throw error
        }
        report(metrics)
        let unsupported = LoadError.unsupportedDownload(url).urlError
        await onQueue { client, load in
            guard file.deliver(to: load) else { return client.urlProtocol(load, didFailWithError: unsupported) }
            client.urlProtocolDidFinishLoading(load)
        }
    }

    private func write(
        _ body: LoadedResponse.Body, to file: DownloadedFile, _ response: HTTPURLResponse
    ) async throws(LoadError) {
        switch body {
        case .stored(let data): try await append(data, to: file, response)
        case .network(let body, let recorder):
            var reader = BodyReader(body, url)
            while let data = try await reader.next() {
                recorder?.append(data)
                await gate.wait()
                try await append(data, to: file, response)
            }
            await recorder?.end()
        }
    }

    private func append(_ data: Data, to file: DownloadedFile, _ response: HTTPURLResponse) async throws(LoadError) {
        let total: Int64
        do throws(SystemError) {
            total = try await Blocking.value { Result { () throws(SystemError) in try file.append(data) } }.get()
        } catch { throw .file(error, url) }
        guard let delegate = binding.delegate as? any URLSessionDownloadDelegate,
            let task = binding.task as? URLSessionDownloadTask, !data.isEmpty
        else { return }
        let (session, expected) = (binding.session, response.expectedContentLength)
        session.delegateQueue.addOperation {
            delegate.urlSession(
                session, downloadTask: task, didWriteData: Int64(data.count), totalBytesWritten: total,
                totalBytesExpectedToWrite: expected)
        }
    }

    private func stream(_ body: HTTPResponseBody, _ recorder: CacheRecorder?) async throws(LoadError) {
        var reader = BodyReader(body, url)
        while let data = try await reader.next() {
            recorder?.append(data)
            await gate.wait()
            await window.wait()
            window.add(data.count)
            await onQueue { $0.urlProtocol($1, didLoad: data) }
            let (window, count) = (window, data.count)
            // Behind the delegate's call of this data.
            binding.session.delegateQueue.addOperation { window.remove(count) }
        }
    }

    private func collect(_ body: HTTPResponseBody, _ recorder: CacheRecorder?) async throws(LoadError) -> Data {
        var (reader, all) = (BodyReader(body, url), Data())
        while let data = try await reader.next() {
            recorder?.append(data)
            all.append(data)
            await gate.wait()
        }
        return all
    }

    private func fail(_ error: LoadError) async {
        let urlError = error.urlError
        await onQueue { $0.urlProtocol($1, didFailWithError: urlError) }
    }

    /// Calls the client, and returns when it was called.
    private func onQueue(_ call: @escaping @Sendable (any URLProtocolClient, URLProtocol) -> Void) async {
        await gate.wait()
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            callOnQueue(call) { continuation.resume() }
        }
    }

    /// Calls the client, if the task still awaits it. From another queue, or after the task's end,
    /// Foundation would end the process.
    private func callOnQueue(
        _ call: @escaping @Sendable (any URLProtocolClient, URLProtocol) -> Void,
        then: @escaping @Sendable () -> Void = {}
    ) {
        binding.queue.async { [self] in
            let isStopped = state.withLock { $0.isStopped }
            switch binding.task.state {
            case .running, .suspended: if !isStopped { client.call(call) }
            default: break
            }
            then()
        }
    }
}

/// Reads a body, with the errors of a load.
struct BodyReader {
    private var iterator: HTTPResponseBody.AsyncIterator
    private let url: URL?

    init(_ body: HTTPResponseBody, _ url: URL?) {
        iterator = body.makeAsyncIterator()
        self.url = url
    }

    mutating func next() async throws(LoadError) -> Data? {
        do {
            while let chunks = try await iterator.nextChunks() {
                let data = Self.joined(chunks)
                if !data.isEmpty { return data }
            }
            return nil
        } catch let failure as HTTPFailure {
            throw LoadError(failure, url, nil)
        } catch {
            throw .cancelled(url)
        }
    }

    /// The bytes of all chunks, copied once.
    private static func joined(_ chunks: [ByteBuffer]) -> Data {
        if chunks.count == 1 { return Data(chunks[0].readableBytesView) }
        var data = Data(capacity: chunks.reduce(0) { $0 + $1.readableBytes })
        for chunk in chunks { data.append(contentsOf: chunk.readableBytesView) }
        return data
    }
}
