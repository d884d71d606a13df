// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxSystem

/// The files with trust settings: the user's and the administrator's.
public struct TrustSettingsDomains: Sendable {
    public let user: TrustSettingsFile?
    public let administrator: TrustSettingsFile

    /// - Parameter directory: the directory of the user's keychain; nil if there is none.
    public init(user directory: String?, administrator: TrustSettingsFile = .administrator) {
        user = directory.map { Self.file("\($0)/\(TrustSettingsFile.name)", owner: geteuid()) }
        self.administrator = administrator
    }

    /// The file at this path; the last one used is kept, because it caches its settings.
    private static func file(_ path: String, owner: UInt32) -> TrustSettingsFile {
        last.withLock { last in
            if let last, last.path == path, last.owner == owner { return last }
            let fresh = TrustSettingsFile(path, owner: owner)
            last = fresh
            return fresh
        }
    }

    private static let last = SystemMutex<TrustSettingsFile?>(nil)
}

extension TrustEvaluation {
    /// Uses the settings of these domains.
    public mutating func take(_ domains: TrustSettingsDomains) {
        do throws(CertificateError) {
            settings = try [domains.user?.load(), domains.administrator.load()].compactMap { $0 }
        } catch {
            // The settings could deny a certificate, so nothing is trusted without them.
            settingsProblem = error.description
        }
    }
}
