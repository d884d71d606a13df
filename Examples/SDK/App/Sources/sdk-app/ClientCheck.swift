// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient

/// Makes a client and shuts it down, without a request.
func httpClientCheck() async throws -> String {
    let client = HTTPClient(eventLoopGroup: HTTPClient.defaultEventLoopGroup)
    try await client.shutdown()
    return "AsyncHTTPClient: shut down"
}
