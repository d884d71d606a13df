// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// A port of 127.0.0.1 that accepts connections and sends nothing, or one that refuses them.
final class SilentPort: Sendable {
    let port: Int
    private let descriptor: Int32

    init(listens: Bool) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let size = length
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        // A port that is bound and not listening refuses connections, and no other process gets it.
        guard isBound, !listens || listen(descriptor, 16) == 0 else { throw POSIXError(.EADDRNOTAVAIL) }
        (self.descriptor, port) = (descriptor, Int(UInt16(bigEndian: address.sin_port)))
    }

    deinit { close(descriptor) }
}
