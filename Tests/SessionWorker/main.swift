// SPDX-License-Identifier: Apache-2.0

import Foundation
import FoundationNetworking
import LatchkeyURLSession
import LatchkeyURLSessionDefaults

// A process whose URLSession.shared is Latchkey's: SessionWorker shared|settings|default URL.
// Prints the code of the error with which a request of the URL ends; 0 if it succeeds.
let words = CommandLine.arguments
guard words.count == 3, let url = URL(string: words[2]) else {
    print("usage: SessionWorker shared|settings|default URL")
    exit(2)
}
if words[1] == "settings" {
    var settings = AppTransportSecurity.strict
    settings.allowsArbitraryLoads = true
    LatchkeyURLSessionDefaults.install(LatchkeyTransport(policy: ConnectionPolicy(settings)))
} else {
    // Once more changes nothing.
    for _ in 0..<2 { LatchkeyURLSessionDefaults.install() }
}
let session = words[1] == "default" ? URLSession(configuration: .default) : .shared
do {
    _ = try await session.data(from: url)
    print(0)
} catch { print((error as NSError).code) }
