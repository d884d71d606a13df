// SPDX-License-Identifier: Apache-2.0

/// macOS's preference domains. Only the user's domain has a keychain here.
enum KeychainDomain: String, CaseIterable, Sendable {
    case user, system, common, dynamic

    static let option = CommandOption(
        "-d", .required("domain"), help: "user, system, common or dynamic; only user has a keychain here")

    /// Reads the domain from the options; the default is the user's.
    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        let name = arguments["-d"]?.text ?? KeychainDomain.user.rawValue
        guard let domain = KeychainDomain(rawValue: name) else { throw .usage("there is no domain '\(name)'") }
        self = domain
    }
}
