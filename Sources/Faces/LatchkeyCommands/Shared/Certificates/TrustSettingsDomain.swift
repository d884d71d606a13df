// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import Glibc
internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyService

/// The trust settings that a command reads or changes: the user's, or the administrator's with
/// `-d`.
struct TrustSettingsDomain {
    let file: TrustSettingsFile
    let isAdminDomain: Bool

    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        try self.init(isAdminDomain: arguments.contains("-d"))
    }

    init(isAdminDomain: Bool) throws(CommandFailure) {
        self.isAdminDomain = isAdminDomain
        let domains = Self.all
        guard let file = isAdminDomain ? domains.administrator : domains.user else {
            throw .status(KeychainError(.noDefaultKeychain, hint: "export LATCHKEY_HOME=/path/of/a/private/directory"))
        }
        self.file = file
    }

    static var all: TrustSettingsDomains { TrustSettingsDomains(user: try? KeychainClient.home().dataDirectory) }

    /// Loads the administrator's settings.
    static func loadAdministrator() throws(CommandFailure) -> TrustSettings {
        try TrustSettingsDomain(file: all.administrator, isAdminDomain: true).load()
    }

    /// Removes a certificate from the administrator's settings.
    static func removeFromAdministrator(_ certificate: Certificate) throws(CommandFailure) {
        let domain = TrustSettingsDomain(file: all.administrator, isAdminDomain: true)
        var settings = try domain.load()
        _ = settings.remove(certificate)
        try domain.save(settings)
    }

    private init(file: TrustSettingsFile, isAdminDomain: Bool) {
        (self.file, self.isAdminDomain) = (file, isAdminDomain)
    }

    func load() throws(CommandFailure) -> TrustSettings {
        do throws(CertificateError) { return try file.load() } catch {
            throw .status(KeychainError(Self.damaged, error.description, hint: "check \(file.path)"))
        }
    }

    func save(_ settings: TrustSettings) throws(CommandFailure) {
        guard !isAdminDomain || geteuid() == 0 else {
            throw .status(
                KeychainError(
                    .writePermission, "only root can change the administrator's trust settings",
                    hint: "use sudo, or omit -d"))
        }
        do throws(CertificateError) { try file.save(settings) } catch {
            throw .status(KeychainError(.io, error.description))
        }
    }

    /// errSecInvalidTrustSettings.
    static let damaged = OSStatusCode(rawValue: -25262)
    /// errSecNoTrustSettings.
    static let none = OSStatusCode(rawValue: -25263)
}
