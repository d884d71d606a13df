// SPDX-License-Identifier: Apache-2.0

/// The name of an EAP server that a program trusts: a host name, or `*.` and a domain for every
/// host directly in it.
public struct TrustedServerName: Hashable, Sendable {
    /// The name as given. A text that is not a valid host name matches nothing.
    public let text: String

    public init(_ text: String) { self.text = text }

    /// Whether a certificate's `dNSName` matches this server. Wildcards in the certificate match as
    /// in ``HostName/matches(_:)``.
    func matches(_ presented: ArraySlice<UInt8>) -> Bool {
        if text.hasPrefix("*.") { return HostName(bytes: presented)?.matches(Array(text.utf8)[...]) ?? false }
        return HostName(text)?.matches(presented) ?? false
    }
}
