// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import KeychainModel
package import LatchkeyClient
internal import LinuxSystem
package import TransportPolicy

/// The requirements of a command for the server of a host, beside trust in its certificates: App Transport Security,
/// and the pins of the keychain and of the command line.
///
/// A program requires the same that gives `StoredPins().configuration()` to its ``ConnectionPolicy``.
package struct HostPolicy {
    package let policy: ConnectionPolicy
    /// The applied requirements, one sentence each, for the report of a command.
    package let applied: [String]
    private let host: String

    /// - Parameters:
    ///   - host: a host name or an IP address.
    ///   - settings: App Transport Security, with the file that it was read from; nil for none.
    ///   - pins: those of the command line.
    ///   - stored: the pins of the keychain; nil to ignore them.
    /// - Throws: the error of the keychain if its pins cannot be read. The command must not check the
    ///   server without them.
    package init(
        host: String, settings: (file: String, value: AppTransportSecurity)? = nil, pins: PinConfiguration? = nil,
        stored: StoredPins?
    ) throws(CommandFailure) {
        var policy = ConnectionPolicy(settings?.value ?? .strict, pins: pins ?? PinConfiguration())
        if let stored {
            policy.storedPins = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
                try stored.configuration()
            }
        }
        (self.policy, self.host) = (policy, host)
        var applied = [
            "App Transport Security \(settings.map { "with the settings of \($0.file)" } ?? "without exceptions")"
        ]
        var sources: [String] = []
        if let set = policy.storedPins.set(forHost: host) { sources.append("the stored pins of \(set.rule.domain)") }
        if policy.pins.set(forHost: host) != nil { sources.append("the pins of the command line") }
        if let set = policy.settings.pins.set(forHost: host) {
            sources.append("the pins of \(set.rule.domain) in \(settings?.file ?? "the settings")")
        }
        if stored == nil { sources.append("stored pins are ignored") }
        applied += sources.isEmpty ? ["no pins are stored for \(host)"] : sources
        self.applied = applied
    }

    /// Returns a sentence of ``applied`` about the anchors that an evaluation with the trust settings uses.
    static func trust(anchors: [FilePath], withSystem: Bool = false) -> String {
        let own = anchors.isEmpty ? [] : ["the anchors of \(anchors.map(\.description).joined(separator: ", "))"]
        let system = anchors.isEmpty || withSystem ? ["the system's anchors"] : []
        return "trust in \((own + system + ["the trust settings"]).joined(separator: " and "))"
    }

    /// Returns the violations by certificates that were evaluated for the host, beside trust: pins, and the strength of
    /// the leaf.
    ///
    /// - Parameters:
    ///   - verdict: the evaluation. The pins are compared for its time.
    ///   - served: leaf first.
    func violations(_ verdict: TrustVerdict, _ served: [Certificate]) -> [String] {
        guard verdict.isTrusted,
            case .secure(let requirements) = policy.decision(scheme: "https", host: host, at: verdict.validationTime)
        else { return [] }
        return requirements.verdict(onCertificates: verdict, served: served).violations.map(\.explanation)
    }
}

extension PinConfiguration {
    fileprivate func set(forHost host: String) -> PinSet? {
        guard let server = try? ServerName(host), case .host(let name) = server else { return nil }
        return set(for: name)
    }
}
