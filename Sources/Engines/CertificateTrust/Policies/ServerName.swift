// SPDX-License-Identifier: Apache-2.0

/// Who a server has to be: a host, or an address.
public enum ServerName: Hashable, Sendable {
    case host(HostName)
    case address(IPAddress)
    /// What names neither. Nobody's certificate is for it.
    case invalid(String)

    /// What a program asks for, whatever it is.
    public init(requested text: String) {
        do throws(CertificateError) { self = try ServerName(text) } catch { self = .invalid(text) }
    }

    /// - Throws: where the text is neither, with what is wrong with it.
    public init(_ text: String) throws(CertificateError) {
        if let address = IPAddress(text: text) {
            self = .address(address)
        } else if let host = HostName(text) {
            self = .host(host)
        } else if !text.utf8.allSatisfy({ $0 < 0x80 }) {
            throw CertificateError("an internationalised name is given as its A-labels, xn--…")
        } else {
            throw CertificateError("a server is named by a host's name or an IP address")
        }
    }

    /// Whether one of the names stands for this server: a host's is never taken for an address, nor the reverse.
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
