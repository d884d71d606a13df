// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import FoundationNetworking
internal import LinuxSystem

extension LatchkeySession {
    /// Loads a request, with its `httpBody` or `httpBodyStream`, and returns the body of the
    /// response.
    ///
    /// - Throws: a `URLError`. A status such as 404 is not an error.
    public func data(for request: URLRequest) async throws(URLError) -> (Data, HTTPURLResponse) {
        try await data(request, RequestBody(of: request))
    }

    /// Loads a URL.
    ///
    /// - Throws: as ``data(for:)``.
    public func data(from url: URL) async throws(URLError) -> (Data, HTTPURLResponse) {
        try await data(for: URLRequest(url: url))
    }

    /// Sends data as the body of a request, and returns the body of the response.
    ///
    /// - Throws: as ``data(for:)``.
    public func upload(for request: URLRequest, from body: Data) async throws(URLError) -> (Data, HTTPURLResponse) {
        try await data(request, .data(body))
    }

    /// Sends a file as the body of a request, and returns the body of the response.
    ///
    /// - Throws: as ``data(for:)``, and if the file cannot be read.
    public func upload(for request: URLRequest, fromFile file: URL) async throws(URLError) -> (Data, HTTPURLResponse) {
        try await data(request, .file(file))
    }

    private func data(_ request: URLRequest, _ body: RequestBody) async throws(URLError) -> (Data, HTTPURLResponse) {
        try await limited(resourceTimeout, request.url) { () throws(LoadError) in
            let (loaded, _) = try await self.load(request, body)
            return (try await loaded.data(), loaded.response)
        }
    }

    /// Runs a request that must end within a time.
    func limited<Value: Sendable>(
        _ seconds: Double, _ url: URL?, _ work: @escaping @Sendable () async throws(LoadError) -> Value
    ) async throws(URLError) -> Value {
        let isTimedOut = SystemFlag()
        let task = Task { () -> Result<Value, LoadError> in
            do throws(LoadError) { return .success(try await work()) } catch { return .failure(error) }
        }
        let deadline = Deadlines.shared.after(seconds) {
            isTimedOut.set()
            task.cancel()
        }
        let result = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        deadline.cancel()
        switch result {
        case .success(let value): return value
        case .failure(let error): throw (isTimedOut.isSet ? .timedOut(url) : error).urlError
        }
    }
}

extension RequestBody {
    init(of request: URLRequest) {
        if let data = request.httpBody {
            self = .data(data)
        } else if let stream = request.httpBodyStream {
            self = .stream(StreamHandle(stream))
        } else {
            self = .none
        }
    }
}

extension LoadedResponse {
    /// The whole body.
    func data() async throws(LoadError) -> Data {
        switch body {
        case .stored(let data): return data
        case .network(let body, let recorder):
            var (reader, all) = (BodyReader(body, response.url), Data())
            while let data = try await reader.next() {
                recorder?.append(data)
                all.append(data)
            }
            await recorder?.end()
            return all
        }
    }
}

/// A flag that one thread sets and another reads.
private final class SystemFlag: Sendable {
    private let value = SystemMutex(false)
    var isSet: Bool { value.withLock { $0 } }
    func set() { value.withLock { $0 = true } }
}
