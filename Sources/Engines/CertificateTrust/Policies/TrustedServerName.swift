// SPDX-License-Identifier: Apache-2.0

/// A server of EAP that a program trusts: a host's name, or `*.` and the name of a domain for every host directly in it.
public struct TrustedServerName: Hashable, Sendable {
    /// As it was given. A name that no host can have stands for none.
    public let text: String

    public init(_ text: String) { self.text = text }

    /// Whether the `dNSName` of a certificate stands for such a server. A wildcard of the certificate stands for the hosts that it does elsewhere.
    func matches(_ presented: ArraySlice<UInt8>) -> Bool {
        if text.hasPrefix("*.") { return HostName(bytes: presented)?.matches(Array(text.utf8)[...]) ?? false }
        return HostName(text)?.matches(presented) ?? false
    }
}
