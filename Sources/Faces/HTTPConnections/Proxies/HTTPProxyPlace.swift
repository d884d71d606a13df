// SPDX-License-Identifier: Apache-2.0

/// Where a proxy is.
package struct HTTPProxyPlace: Hashable, Sendable {
    package let host: String
    package let port: Int
}

/// The answer 407 of a proxy to a request for a tunnel.
package struct HTTPProxyChallenge: Sendable {
    package let proxy: HTTPProxyPlace
    /// The fields of the answer, in order.
    package let fields: [HTTPField]

    package init(proxy: HTTPProxyPlace, fields: [HTTPField]) { (self.proxy, self.fields) = (proxy, fields) }
}
