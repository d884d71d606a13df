// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import FoundationNetworking

extension LatchkeySession {
    /// How much of a file has been downloaded.
    public struct DownloadProgress: Hashable, Sendable {
        public let receivedBytes: Int64
        /// Nil if the server does not say it.
        public let expectedBytes: Int64?
    }

    /// Downloads to a file. The file exists only when it is complete and on disk.
    ///
    /// If the connection ends early, the received bytes stay in `FILE.partial`, and the next call with the same URL and
    /// file continues there, if the server says that the content is the same. Only one download may write to a file at
    /// a time.
    ///
    /// - Parameters:
    ///   - request: a GET.
    ///   - file: replaced if it exists.
    ///   - progress: called for each part that was written, by any thread.
    /// - Throws: a `URLError`: -1011 for a status other than 200, and -3003 if the file cannot be
    ///   written.
    public func download(
        for request: URLRequest, to file: URL, progress: (@Sendable (DownloadProgress) -> Void)? = nil
    ) async throws(URLError) -> HTTPURLResponse {
        try await limited(resourceTimeout, request.url) { () throws(LoadError) in
            let partial = try await PartialDownload.opened(file.path, request.url)
            do throws(LoadError) {
                return try await self.download(request, partial, progress)
            } catch {
                await partial.keep()
                throw error
            }
        }
    }

    private func download(
        _ original: URLRequest, _ partial: PartialDownload, _ progress: (@Sendable (DownloadProgress) -> Void)?
    ) async throws(LoadError) -> HTTPURLResponse {
        var request = original
        request.cachePolicy = .reloadIgnoringLocalCacheData
        // The counted bytes must be the stored bytes.
        request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        for (name, value) in partial.resumeFields { request.setValue(value, forHTTPHeaderField: name) }
        let (loaded, _) = try await load(request, .none)
        let response = loaded.response
        if response.statusCode == 416, partial.isResuming {
            // The content is shorter now.
            try await partial.restart(nil)
            return try await download(original, partial, progress)
        }
        guard response.statusCode == 200 || response.statusCode == 206 else {
            throw LoadError(
                .badServerResponse, "expected a response with the status 200, found \(response.statusCode)",
                response.url)
        }
        guard try await partial.accept(response) else { return try await download(original, partial, progress) }
        switch loaded.body {
        case .stored(let data): try await partial.write(data)
        case .network(let body, _):
            var reader = BodyReader(body, response.url)
            while let data = try await reader.next() {
                try await partial.write(data)
                progress?(DownloadProgress(receivedBytes: partial.count, expectedBytes: partial.expected))
            }
        }
        try await partial.finish()
        return response
    }
}
