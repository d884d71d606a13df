// SPDX-License-Identifier: Apache-2.0

import Foundation
import FoundationNetworking

/// Answers each request at once, without a connection: the time that a `URLSession` takes by itself.
final class ImmediateProtocol: URLProtocol {
    override class func canInit(with request: URLRequest) -> Bool { true }
    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
        guard let client, let url = request.url,
            let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: [:])
        else { return }
        client.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
        client.urlProtocol(self, didLoad: Data(repeating: 0x78, count: 100))
        client.urlProtocolDidFinishLoading(self)
    }

    override func stopLoading() {}
}
