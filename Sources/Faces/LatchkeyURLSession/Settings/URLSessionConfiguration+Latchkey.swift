// SPDX-License-Identifier: Apache-2.0

public import FoundationNetworking
public import LatchkeyNIOSSL
public import TransportPolicy

extension URLSessionConfiguration {
    /// A default configuration with Latchkey's connections: with the settings of the `Info.plist` beside the program.
    /// If that file cannot be read, all requests fail.
    ///
    /// ```swift
    /// let session = URLSession(configuration: .latchkey, delegate: pinning, delegateQueue: nil)
    /// ```
    public static var latchkey: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.foundationsDefault()
        configuration.adoptLatchkey()
        return configuration
    }

    /// Makes the connections of sessions with this configuration Latchkey's, where no class of the program loads a
    /// request.
    ///
    /// - Parameter keepsCredentials: whether Foundation's storage of credentials, which finds none, is not replaced by
    ///   that of the keychain.
    package func adoptLatchkey(keepsCredentials: Bool = false) {
        if !keepsCredentials, let storage = urlCredentialStorage, type(of: storage) == URLCredentialStorage.self {
            urlCredentialStorage = .latchkey
        }
        let classes = protocolClasses ?? []
        guard !classes.contains(where: { $0 is LatchkeyURLProtocol.Type }) else { return }
        // Foundation's own classes would load the request without the settings.
        let end = classes.firstIndex { Self.isFoundations($0) } ?? classes.count
        protocolClasses = classes[..<end] + [LatchkeyURLProtocol.self] + classes[end...]
    }

    /// Returns this configuration, if its connections are Latchkey's; otherwise a copy with them. Its storage of credentials
    /// stays: that of an ephemeral configuration must not become the keychain's.
    package func adoptingLatchkey() -> URLSessionConfiguration {
        if protocolClasses?.contains(where: { $0 is LatchkeyURLProtocol.Type }) == true { return self }
        let configuration = copy() as? URLSessionConfiguration ?? self
        configuration.adoptLatchkey(keepsCredentials: true)
        return configuration
    }

    /// Foundation's own `.default`, also in a program that redirects it, and without the linker's warning about it.
    @_silgen_name("__real_$s20FoundationNetworking23URLSessionConfigurationC7defaultACvgZ")
    private class func foundationsDefault() -> URLSessionConfiguration

    private static func isFoundations(_ type: AnyClass) -> Bool {
        String(reflecting: type).hasPrefix("FoundationNetworking.")
    }

    /// Returns a default configuration with connections that satisfy a policy.
    ///
    /// - Parameters:
    ///   - policy: App Transport Security and pins.
    ///   - trust: how the certificates of servers are evaluated.
    public static func latchkey(policy: ConnectionPolicy, trust: PeerTrust = PeerTrust()) -> URLSessionConfiguration {
        latchkey(LatchkeyTransport(policy: policy, trust: trust))
    }

    /// Returns a default configuration with connections that satisfy these settings.
    public static func latchkey(_ transport: LatchkeyTransport) -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.foundationsDefault()
        configuration.urlCredentialStorage = .latchkey
        configuration.use(transport)
        return configuration
    }

    /// Makes the connections of sessions with this configuration Latchkey's. The settings are kept
    /// in `connectionProxyDictionary`: if a program replaces it afterwards, all requests fail.
    public func use(_ transport: LatchkeyTransport) {
        SessionSettings(.success(transport)).attach(to: self)
        let others = (protocolClasses ?? []).filter { !($0 is LatchkeyURLProtocol.Type) }
        protocolClasses = [ConfiguredURLProtocol.self] + others
    }
}

/// The class for configurations with settings of their own. It refuses to load without them.
final class ConfiguredURLProtocol: LatchkeyURLProtocol {
    override class var requiresAttachedSettings: Bool { true }
}
