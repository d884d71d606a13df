// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust

/// A program's App Transport Security settings: the dictionary `NSAppTransportSecurity` of its
/// `Info.plist`, or values of the program itself.
public struct AppTransportSecurity: Hashable, Sendable {
    /// Whether App Transport Security is off for domains without an entry in ``exceptions``. Has no
    /// effect if one of the next three is present, as Apple documents for iOS 10 and later.
    public var allowsArbitraryLoads = false
    /// The same for media; nil if the key is absent.
    public var allowsArbitraryLoadsForMedia: Bool?
    /// The same for web content; nil if the key is absent.
    public var allowsArbitraryLoadsInWebContent: Bool?
    /// The same for addresses, names with one label and names in `.local`; nil if the key is absent.
    public var allowsLocalNetworking: Bool?
    public var exceptions: [ExceptionDomain] = []
    public var pins = PinConfiguration()
    /// Whether the rules of the NIAP package for TLS are required. They cannot be verified here.
    public var requiresNIAPPackage = false
    /// Hosts with intended pins that could not be read.
    var unreadablePins = UnreadablePins()

    /// No exceptions and no pins: the settings without an `Info.plist`.
    public static let strict = AppTransportSecurity()

    public init() {}

    /// Whether `NSAllowsArbitraryLoads` has an effect.
    public var isArbitraryLoadsEffective: Bool {
        allowsArbitraryLoads && allowsArbitraryLoadsForMedia == nil && allowsArbitraryLoadsInWebContent == nil
            && allowsLocalNetworking == nil
    }

    /// The rules for a server. An entry of ``exceptions`` precedes every general setting.
    func rules(for server: ServerName, _ purpose: LoadPurpose) -> LoadRules {
        if let entry = exceptions.entry(for: server) { return entry.rules }
        if isArbitraryLoadsEffective { return .unrestricted }
        if purpose == .media, allowsArbitraryLoadsForMedia == true { return .unrestricted }
        if purpose == .webContent, allowsArbitraryLoadsInWebContent == true { return .unrestricted }
        if allowsLocalNetworking == true, server.isLocal { return .unrestricted }
        return .strict
    }

    /// Why no connection to a server is made; nil if there is no reason.
    func refusal(for server: ServerName) -> TransportRefusal? {
        if let problem = unreadablePins.problem(for: server) {
            return TransportRefusal(.invalidSettings, "the pins for \(server) cannot be read: \(problem)")
        }
        if exceptions.entry(for: server)?.requiresNIAPPackage ?? requiresNIAPPackage {
            return TransportRefusal(
                .unsupportedRequirement,
                "the settings for \(server) require a NIAP package for TLS, but it cannot be verified")
        }
        return nil
    }
}

/// The hosts with pins that could not be read. Connections to them are refused, because the intended keys are not
/// known.
struct UnreadablePins: Hashable, Sendable {
    /// The problem of each domain; it applies to every subdomain.
    var domains: [DomainName: String] = [:]
    /// A problem that concerns unknown hosts, and therefore all of them.
    var everywhere: String?

    func problem(for server: ServerName) -> String? {
        if let everywhere { return everywhere }
        guard case .host(let host) = server else { return nil }
        return domains.first { host.labels(below: $0.key.host) != nil }?.value
    }
}

extension ServerName {
    /// Whether `NSAllowsLocalNetworking` is for this server.
    fileprivate var isLocal: Bool {
        switch self {
        case .address: true
        case .host(let host): host.labels.count == 1 || host.labels.last == "local"
        case .invalid: false
        }
    }
}
