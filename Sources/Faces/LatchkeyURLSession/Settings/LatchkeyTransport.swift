// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
public import LatchkeyNIOSSL
internal import LatchkeyService
public import TransportPolicy

/// The requirements for the connections of a session.
public struct LatchkeyTransport: Sendable {
    /// App Transport Security and pins.
    public var policy: ConnectionPolicy
    /// How the certificates of servers are evaluated.
    public var trust: PeerTrust
    /// The purpose of the load; only App Transport Security's switches for media and web content depend on it.
    public var purpose = LoadPurpose.general
    /// Whether the proxies of `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` are used.
    public var usesProxyEnvironment = true
    /// For tests, in place of the environment.
    var proxyVariables: [String: String]?

    /// - Parameters:
    ///   - policy: by default App Transport Security without exceptions, and no pins.
    ///   - trust: by default as `SecTrust` evaluates.
    public init(policy: ConnectionPolicy = ConnectionPolicy(), trust: PeerTrust = PeerTrust()) {
        (self.policy, self.trust) = (policy, trust)
    }

    /// The settings of the `Info.plist` in the directory of this program's executable; strict ones
    /// if there is no such file.
    ///
    /// - Throws: if the file exists and cannot be read. The program must then make no connections.
    public static func besideProgram() throws(TransportPolicyError) -> LatchkeyTransport {
        let settings = try AppTransportSecurity.besideProgram().settings
        if settings.isArbitraryLoadsEffective { ProgramLog.current.warn(.arbitraryLoads) }
        return LatchkeyTransport(policy: ConnectionPolicy(settings))
    }

    /// The settings of a property list that the program names.
    ///
    /// - Throws: if the file does not exist, or cannot be read.
    public static func propertyList(_ path: String) throws(TransportPolicyError) -> LatchkeyTransport {
        LatchkeyTransport(policy: ConnectionPolicy(try AppTransportSecurity.reading(file: path).settings))
    }
}
