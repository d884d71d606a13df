// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem
internal import TransportPolicy

/// A combination of App Transport Security's exceptions, as `nscurl --ats-diagnostics` tries it.
struct DiagnosticsCase: Sendable {
    let title: String
    /// The value of `NSAppTransportSecurity`.
    let dictionary: PropertyListValue

    /// The combinations for a host, the strictest first.
    static func all(for host: String) -> [DiagnosticsCase] {
        let general = [
            DiagnosticsCase(title: "Default", dictionary: .dictionary([:])),
            DiagnosticsCase(
                title: "Arbitrary loads", dictionary: .dictionary(["NSAllowsArbitraryLoads": .boolean(true)])),
        ]
        let groups: [(title: String, members: [String: PropertyListValue])] = [
            ("", [:]),
            (", without forward secrecy", [forwardSecrecy: .boolean(false)]),
            (", with insecure HTTP", [insecureHTTP: .boolean(true)]),
            (
                ", without forward secrecy, with insecure HTTP",
                [forwardSecrecy: .boolean(false), insecureHTTP: .boolean(true)]
            ),
        ]
        return general
            + groups.flatMap { group in
                TLSVersion.allCases.sorted(by: >).map { version in
                    let members = group.members.merging([minimumVersion: .string(version.rawValue)]) { old, _ in old }
                    return DiagnosticsCase(
                        title: "\(version)\(group.title)",
                        dictionary: .dictionary(["NSExceptionDomains": .dictionary([host: .dictionary(members)])]))
                }
            }
    }

    private static let forwardSecrecy = "NSExceptionRequiresForwardSecrecy"
    private static let insecureHTTP = "NSExceptionAllowsInsecureHTTPLoads"
    private static let minimumVersion = "NSExceptionMinimumTLSVersion"

    /// The dictionary on one line, as in a property list of text.
    var text: String { Self.text(dictionary) }

    private static func text(_ value: PropertyListValue) -> String {
        switch value {
        case .dictionary(let members):
            "{" + members.sorted { $0.key < $1.key }.map { "\($0.key) = \(text($0.value));" }.joined(separator: " ")
                + "}"
        case .boolean(let flag): flag ? "YES" : "NO"
        case .string(let text): "\"\(text)\""
        default: ""
        }
    }
}
