// SPDX-License-Identifier: Apache-2.0

/// Where a TPM 2.0 is. It is always named: the library's own search would connect to any process
/// that listens at a well-known port.
///
/// ```
/// device:/dev/tpmrm0
/// swtpm:path=/run/user/1000/swtpm
/// swtpm:port=2321
/// ```
public enum TPMAddress: Hashable, Sendable {
    /// A device of the kernel; with its resource manager, `/dev/tpmrm0`.
    case device(path: String)
    /// A software TPM (swtpm) at a socket. The permissions of the socket decide who can use it.
    case socket(path: String)
    /// A software TPM at a port of this machine. Every user of the machine can use it.
    case port(UInt16)

    /// The TPM of the machine.
    public static let system = TPMAddress.device(path: "/dev/tpmrm0")

    /// - Parameter text: one of the forms above; `host=127.0.0.1` is accepted before the port, as
    ///   in the configuration strings of tpm2-tools.
    /// - Throws: ``TPMError/invalidAddress(_:)``.
    public init(_ text: String) throws(TPMError) {
        guard let colon = text.firstIndex(of: ":") else { throw .invalidAddress(text) }
        let rest = String(text[text.index(after: colon)...])
        switch text[..<colon] {
        case "device":
            guard Self.isPath(rest) else { throw .invalidAddress(text) }
            self = .device(path: rest)
        case "swtpm": self = try Self.software(rest, text)
        default: throw .invalidAddress(text)
        }
    }

    /// Whether it is a program that behaves like a TPM.
    public var isSoftware: Bool { if case .device = self { false } else { true } }

    private static func software(_ rest: String, _ text: String) throws(TPMError) -> TPMAddress {
        var values: [Substring: String] = [:]
        for part in rest.split(separator: ",", omittingEmptySubsequences: false) {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2, values.updateValue(String(pair[1]), forKey: pair[0]) == nil else {
                throw .invalidAddress(text)
            }
        }
        let host = values.removeValue(forKey: "host")
        if let path = values["path"], values.count == 1, host == nil, isPath(path) { return .socket(path: path) }
        // Another machine's TPM would say nothing about this one, and its connection is not protected.
        guard let port = values["port"].flatMap({ UInt16($0) }), values.count == 1, port > 0,
            host == nil || host == "127.0.0.1" || host == "localhost"
        else { throw .invalidAddress(text) }
        return .port(port)
    }

    private static func isPath(_ text: String) -> Bool { text.hasPrefix("/") && !text.utf8.contains(0) }
}

extension TPMAddress: CustomStringConvertible {
    public var description: String {
        switch self {
        case .device(let path): "device:\(path)"
        case .socket(let path): "swtpm:path=\(path)"
        case .port(let port): "swtpm:port=\(port)"
        }
    }
}
