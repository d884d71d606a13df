// SPDX-License-Identifier: Apache-2.0

/// The required name of a server: a host name or an IP address.
public enum ServerName: Hashable, Sendable {
    case host(HostName)
    case address(IPAddress)
    /// A text that is neither; no certificate matches it.
    case invalid(String)

    /// Parses the text; one that is not a valid name becomes ``invalid(_:)``.
    public init(requested text: String) {
        do throws(CertificateError) { self = try ServerName(text) } catch { self = .invalid(text) }
    }

    /// Parses a host name or an IP address.
    ///
    /// - Throws: if the text is neither, with the reason.
    public init(_ text: String) throws(CertificateError) {
        if let address = IPAddress(text: text) {
            self = .address(address)
        } else if let host = HostName(text) {
            self = .host(host)
        } else if !text.utf8.allSatisfy({ $0 < 0x80 }) {
            throw CertificateError("an internationalized host name must be given as A-labels (xn--…)")
        } else {
            throw CertificateError("a server name must be a host name or an IP address")
        }
    }

    /// Whether the name matches this server. A host name only matches DNS names, an address only IP
    /// addresses.
    func matches(_ name: GeneralName) -> Bool {
        switch (self, name) {
        case (.host(let host), .dns(let presented)): host.matches(presented)
        case (.address(let address), .ip(let presented)): address.bytes.elementsEqual(presented)
        default: false
        }
    }
}

// MARK: CustomStringConvertible

extension ServerName: CustomStringConvertible {
    public var description: String {
        switch self {
        case .host(let host): host.description
        case .address(let address): address.description
        case .invalid(let text): text
        }
    }
}
