// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyURLSession
import LatchkeyURLSessionDefaults
import Testing

/// In processes of their own, because the shared session belongs to the whole process.
@Suite("URLSession.shared")
struct DefaultsTests {
    /// A port on which nothing listens.
    private static let closed = "http://localhost:9/"

    private static func code(_ session: URLSession, _ text: String) async -> Int {
        guard let url = URL(string: text) else { return 0 }
        do {
            _ = try await session.data(from: url)
            return 0
        } catch { return (error as NSError).code }
    }

    @Test("install() makes URLSession.shared obey App Transport Security")
    func shared() async {
        await #expect(processExitsWith: .success) {
            LatchkeyURLSessionDefaults.install()
            LatchkeyURLSessionDefaults.install()
            let code = await Self.code(.shared, Self.closed)
            exit(code == -1022 ? 0 : 1)
        }
    }

    @Test("install() takes the settings of the program")
    func settings() async {
        await #expect(processExitsWith: .success) {
            var settings = AppTransportSecurity.strict
            settings.allowsArbitraryLoads = true
            LatchkeyURLSessionDefaults.install(LatchkeyTransport(policy: ConnectionPolicy(settings)))
            let code = await Self.code(.shared, Self.closed)
            exit(code == -1004 ? 0 : 1)
        }
    }

    @Test("What install() does not reach is Foundation's, as the documentation says")
    func others() async {
        await #expect(processExitsWith: .success) {
            LatchkeyURLSessionDefaults.install()
            let code = await Self.code(URLSession(configuration: .default), Self.closed)
            exit(code == -1022 ? 1 : 0)
        }
    }
}
