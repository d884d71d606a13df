// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization

/// The places where trust settings lie: the user's and the administrator's.
public struct TrustSettingsDomains: Sendable {
    public let user: TrustSettingsFile?
    public let administrator: TrustSettingsFile

    /// - Parameter directory: of the user's keychain; nil where there is no place for one.
    public init(user directory: String?, administrator: TrustSettingsFile = .administrator) {
        user = directory.map { Self.file("\($0)/\(TrustSettingsFile.name)", owner: geteuid()) }
        self.administrator = administrator
    }

    /// The file of this path that was used before, which has its settings at hand.
    private static func file(_ path: String, owner: UInt32) -> TrustSettingsFile {
        last.withLock { last in
            if let last, last.path == path, last.owner == owner { return last }
            let fresh = TrustSettingsFile(path, owner: owner)
            last = fresh
            return fresh
        }
    }

    private static let last = Mutex<TrustSettingsFile?>(nil)
}

extension TrustEvaluation {
    /// Judges by the settings of these places as well.
    public mutating func take(_ domains: TrustSettingsDomains) {
        do throws(CertificateError) {
            settings = try [domains.user?.load(), domains.administrator.load()].compactMap { $0 }
        } catch {
            // They might forbid what is judged.
            settingsProblem = error.description
        }
    }
}
