// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import FoundationNetworking
internal import LatchkeyURLSession
internal import LinuxSystem

/// A call of Foundation that loads a URL of the network without a session, such as `Data(contentsOf:)`.
enum RedirectedLoad {
    /// Returns the body of the response; nil if the URL has not the scheme `http` or `https`. Blocks until it has arrived.
    ///
    /// - Throws: the `URLError` of the load; `CocoaError` with the code `fileReadUnknown` for a status of an error.
    static func data(of url: URL) throws -> Data? {
        guard !url.isFileURL, ["http", "https"].contains(url.scheme?.lowercased()) else { return nil }
        let load = Load()
        let session = URLSession(configuration: .latchkey)
        defer { session.finishTasksAndInvalidate() }
        session.dataTask(with: url) { load.end($0, $1, $2) }.resume()
        let (data, response) = try load.await()
        guard let status = (response as? HTTPURLResponse)?.statusCode, accepted.contains(status) else {
            throw CocoaError(.fileReadUnknown, userInfo: [NSURLErrorKey: url])
        }
        return data
    }

    /// The statuses with a result, as Foundation has them.
    private static let accepted = Set(200...299).union([101, 304, 422])

    /// The result of a task, for the thread that waits for it.
    private final class Load: Sendable {
        private let ended = BinarySemaphore()
        private let result = SystemMutex<Result<(Data, URLResponse), any Error>>(.failure(CocoaError(.fileReadUnknown)))

        init() { ended.acquire() }

        func end(_ data: Data?, _ response: URLResponse?, _ error: (any Error)?) {
            result.withLock {
                if let data, let response { $0 = .success((data, response)) } else if let error { $0 = .failure(error) }
            }
            ended.release()
        }

        func await() throws -> (Data, URLResponse) {
            ended.acquire()
            defer { ended.release() }
            return try result.withLock { $0 }.get()
        }
    }
}
