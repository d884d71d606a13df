// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import Hummingbird

/// A hummingbird server on loopback, and async-http-client that asks it.
@main
struct Exchange {
    static func main() async throws {
        let router = Router()
        router.get("/") { _, _ in "a sibling" }
        let (ports, port) = AsyncStream<Int>.makeStream()
        let server = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in port.yield(channel.localAddress?.port ?? 0) })
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.runService() }
            for await number in ports {
                let response = try await HTTPClient.shared.execute(
                    .init(url: "http://127.0.0.1:\(number)/"), timeout: .seconds(60))
                let body = try await response.body.collect(upTo: 1024)
                print("exchange: \(response.status.code) \(String(buffer: body))")
                break
            }
            group.cancelAll()
        }
    }
}
