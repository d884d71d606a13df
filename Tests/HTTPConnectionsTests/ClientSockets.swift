// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// The open sockets of this process that are connected to a port.
enum ClientSockets {
    /// The largest number if the descriptors cannot be listed.
    static func count(to port: Int) -> Int {
        let names = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        return names?.compactMap { Int32($0) }.count { peerPort(of: $0) == port } ?? .max
    }

    /// Returns nil without a connected socket of the Internet, and for a descriptor that was closed meanwhile.
    private static func peerPort(of descriptor: Int32) -> Int? {
        var address = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let result = withUnsafeMutableBytes(of: &address) {
            getpeername(descriptor, $0.baseAddress?.assumingMemoryBound(to: sockaddr.self), &length)
        }
        // Both families have the port in the same place.
        let families = [AF_INET, AF_INET6].map { sa_family_t($0) }
        guard result == 0, families.contains(address.sin6_family) else { return nil }
        return Int(UInt16(bigEndian: address.sin6_port))
    }
}
