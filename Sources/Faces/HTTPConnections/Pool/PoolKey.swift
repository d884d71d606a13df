// SPDX-License-Identifier: Apache-2.0

internal import LatchkeyNIOSSL
internal import TransportPolicy

/// The properties that two requests must have in common to use one connection.
struct PoolKey: Hashable, Sendable {
    let isSecure: Bool
    let host: String
    let port: Int
    let proxy: HTTPProxy?
    let purpose: LoadPurpose
    let reviewer: Swift.ObjectIdentifier?

    init(_ target: HTTPTarget, _ proxy: HTTPProxy?, _ purpose: LoadPurpose, _ review: (any ServerReview)?) {
        (isSecure, host, port) = (target.isSecure, target.host.lowercased(), target.port)
        (self.proxy, self.purpose, reviewer) = (proxy, purpose, review?.identifier)
    }
}
