// SPDX-License-Identifier: Apache-2.0

/// macOS's preference domains, of which only the user's has a keychain here.
enum KeychainDomain: String, CaseIterable, Sendable {
    case user, system, common, dynamic

    static let option = CommandOption(
        "-d", .required("domain"), help: "user, system, common or dynamic; only user has a keychain here")

    /// The domain that was named, else the user's.
    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        let name = arguments["-d"]?.text ?? KeychainDomain.user.rawValue
        guard let domain = KeychainDomain(rawValue: name) else { throw .usage("there is no domain '\(name)'") }
        self = domain
    }
}
