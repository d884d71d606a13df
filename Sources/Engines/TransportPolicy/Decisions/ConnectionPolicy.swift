// SPDX-License-Identifier: Apache-2.0

package import CertificateTrust

/// The requirements on a program's connections: its App Transport Security settings, and its pins.
///
///     let policy = ConnectionPolicy(try AppTransportSecurity.besideProgram().settings, pins: pins)
///     switch policy.decision(scheme: "https", host: "api.example.com", at: now) {
///     case .refused(let refusal): throw refusal
///     case .plain: connect()
///     case .secure(let requirements): handshake(requirements.minimumVersion, requirements.suites)
///     }
public struct ConnectionPolicy: Hashable, Sendable {
    public var settings: AppTransportSecurity
    /// The pins that the program itself gives, in addition to those of the settings.
    public var pins: PinConfiguration
    /// The pins that the user has stored, in addition to those of the program; for commands. A program
    /// that uses stored pins gives them as its own.
    package var storedPins = PinConfiguration()

    public init(_ settings: AppTransportSecurity = .strict, pins: PinConfiguration = PinConfiguration()) {
        (self.settings, self.pins) = (settings, pins)
    }

    /// Decides how a URL may be loaded.
    ///
    /// - Parameters:
    ///   - host: as in the URL; an address of IPv6 may have brackets.
    ///   - time: seconds since 1970, for the expiration of pins.
    public func decision(scheme: String, host: String, purpose: LoadPurpose = .general, at time: Double)
        -> TransportDecision
    {
        guard let isSecure = Self.isSecure(scheme) else {
            return .refused(
                TransportRefusal(.unsupportedScheme, "expected a URL with https, found the scheme \(scheme.quoted)"))
        }
        let server: ServerName
        do throws(TransportPolicyError) { server = try Self.server(host) } catch {
            return .refused(TransportRefusal(.invalidHost, error.description))
        }
        let rules = settings.rules(for: server, purpose)
        guard isSecure else { return plainDecision(server, rules, time) }
        if let refusal = settings.refusal(for: server) { return .refused(refusal) }
        var requirements = TLSRequirements(server)
        requirements.minimumVersion = rules.minimumVersion
        requirements.requiresForwardSecrecy = rules.requiresForwardSecrecy
        requirements.requiresStrongKey = rules.requiresStrongKey
        requirements.requiresStrongHash = rules.requiresStrongHash
        requirements.requiresCertificateTransparency = rules.requiresCertificateTransparency
        requirements.allowsUntrustedServers = rules.allowsInsecureHTTP
        requirements.pins = pinSets(for: server)
        return .secure(requirements)
    }

    /// Decides whether a redirect may be followed: as a URL that the program loads, but never from a
    /// connection with TLS to one without.
    ///
    /// - Parameter origin: the scheme of the redirecting URL.
    public func decision(
        redirectedFrom origin: String, scheme: String, host: String, purpose: LoadPurpose = .general, at time: Double
    ) -> TransportDecision {
        let decision = decision(scheme: scheme, host: host, purpose: purpose, at: time)
        guard case .plain = decision, Self.isSecure(origin) != false else { return decision }
        return .refused(
            TransportRefusal(
                .insecureRedirect,
                "a redirect from \(origin.quoted) must lead to https, found \(scheme.quoted) for \(host.quoted)"))
    }

    /// The domains that have settings or pins of their own.
    package var domains: [HostName] {
        allPins.flatMap(\.sets).flatMap { [$0.rule.domain.host] + $0.rule.excluded.map(\.host) }
            + settings.exceptions.compactMap { $0.domainRule?.domain.host }
            + settings.unreadablePins.domains.keys.map(\.host)
    }

    private func plainDecision(_ server: ServerName, _ rules: LoadRules, _ time: Double) -> TransportDecision {
        guard rules.allowsInsecureHTTP else {
            return .refused(
                TransportRefusal(
                    .insecureHTTP,
                    "App Transport Security requires https for \(server): use https, or add an exception for the domain"
                ))
        }
        if let refusal = settings.refusal(for: server) { return .refused(refusal) }
        guard !pinSets(for: server).contains(where: { $0.refusesPlainConnections(at: time) }) else {
            return .refused(
                TransportRefusal(
                    .insecurePinnedHost, "\(server) has pins that require https, although http is allowed"))
        }
        return .plain
    }

    private func pinSets(for server: ServerName) -> [PinSet] {
        guard case .host(let host) = server else { return [] }
        return allPins.compactMap { $0.set(for: host) }
    }

    /// The pins of every source. Those of each source must match.
    package var allPins: [PinConfiguration] { [settings.pins, pins, storedPins] }

    /// Whether the scheme has TLS; nil for other schemes.
    private static func isSecure(_ scheme: String) -> Bool? {
        switch scheme.lowercased() {
        case "https", "wss": true
        case "http", "ws": false
        default: nil
        }
    }

    private static func server(_ text: String) throws(TransportPolicyError) -> ServerName {
        let server: ServerName
        do throws(CertificateError) { server = try ServerName(text) } catch {
            throw TransportPolicyError("\(error), found \(text.quoted)")
        }
        // Resolvers read these as addresses.
        if case .host(let host) = server, let last = host.labels.last, last.hasPrefix("0x"),
            last.dropFirst(2).allSatisfy(\.isHexDigit)
        {
            throw TransportPolicyError("an address must be written as 192.0.2.1 or [2001:db8::1], found \(text.quoted)")
        }
        return server
    }
}
