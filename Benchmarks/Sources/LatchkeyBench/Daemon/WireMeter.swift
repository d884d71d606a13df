// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Synchronization

/// A proxy between a client and the daemon that counts the bytes of the last exchange in both
/// directions.
final class WireMeter: Sendable {
    private let counts = Mutex<(there: Int, back: Int)>((0, 0))

    /// Listens at `path`, and forwards everything to the daemon at `target`.
    init(at path: String, to target: String) throws {
        let listener = try LocalSocket.listen(path)
        Thread { [self] in
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0, let daemon = try? LocalSocket.connect(target) else { return }
                Thread { [self] in pass(client, daemon) }.start()
            }
        }.start()
    }

    /// The sizes of the last exchange, in bytes.
    var sizes: (request: Int, response: Int) { counts.withLock { ($0.there, $0.back) } }

    /// Forwards one request and one response alternately; each fits the buffer.
    private func pass(_ client: Int32, _ daemon: Int32) {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let there = recv(client, &buffer, buffer.count, 0)
            guard there > 0, Glibc.send(daemon, buffer, there, Int32(MSG_NOSIGNAL)) == there else { break }
            let back = recv(daemon, &buffer, buffer.count, 0)
            guard back > 0, Glibc.send(client, buffer, back, Int32(MSG_NOSIGNAL)) == back else { break }
            counts.withLock { $0 = (there, back) }
        }
        close(client)
        close(daemon)
    }
}
