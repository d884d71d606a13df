// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// Where a request goes: parsed once from a URL of `http` or `https`.
package struct HTTPTarget: Hashable, Sendable {
    package let isSecure: Bool
    /// A host name or an address, without brackets.
    package let host: String
    package let port: Int
    /// Path and query, percent-encoded, beginning with `/`.
    package let pathAndQuery: String

    package init(_ url: URL) throws(HTTPFailure) { fatalError("stub") }
}
