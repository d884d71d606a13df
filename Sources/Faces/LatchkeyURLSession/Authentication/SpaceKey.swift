// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import FoundationNetworking

/// A protection space as a key: Foundation's objects on Linux are equal only to themselves.
struct SpaceKey: Hashable, Sendable {
    let host, realm, method: String
    let port: Int
    let isSecure: Bool
    let isProxy: Bool

    /// Apple's value of `NSURLProtectionSpaceHTTPS`; Foundation's constant on Linux has another.
    static let https = "https"

    init(_ space: URLProtectionSpace) {
        host = space.host.lowercased()
        realm = space.realm ?? ""
        method = space.authenticationMethod
        port = space.port
        isSecure = space.protocol == NSURLProtectionSpaceHTTPS || space.protocol?.lowercased() == Self.https
        isProxy = space.isProxy()
    }

    init(host: String, realm: String, method: String, port: Int, isSecure: Bool) {
        (self.host, self.realm, self.method) = (host, realm, method)
        (self.port, self.isSecure, isProxy) = (port, isSecure, false)
    }

    var space: URLProtectionSpace {
        URLProtectionSpace(
            host: host, port: port, protocol: isSecure ? Self.https : "http",
            realm: realm, authenticationMethod: method)
    }
}
