// SPDX-License-Identifier: Apache-2.0

import Foundation
import FoundationNetworking

/// Counts the bytes of one task at a time.
///
/// Its Sendable is unchecked because the session calls it on its queue alone, and the properties
/// are set before the task begins.
final class CountingDelegate: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    private var bytes = 0
    private var continuation: CheckedContinuation<Int, any Error>?

    func count(_ task: URLSessionDataTask) async throws -> Int {
        try await withCheckedThrowingContinuation { continuation in
            (bytes, self.continuation) = (0, continuation)
            task.resume()
        }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        bytes += data.count
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        continuation?.resume(with: error.map { .failure($0) } ?? .success(bytes))
        continuation = nil
    }
}
