// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem
internal import Synchronization

/// A file of trust settings, which is read once, and again when it changes.
public final class TrustSettingsFile: Sendable {
    public let path: String
    /// Who may write it, beside root.
    let owner: UInt32
    private let state = Mutex<(stamp: FileStatus.Stamp, settings: TrustSettings)?>(nil)

    /// The file's name in the directory of a keychain.
    public static let name = "trust-settings.plist"

    /// The administrator's, for all users.
    public static let administrator = TrustSettingsFile("/etc/latchkey/\(name)", owner: 0)

    public init(_ path: String, owner: UInt32) {
        self.path = path
        self.owner = owner
    }

    /// The settings as the file now is; none where there is no file.
    ///
    /// - Throws: where it is no such file, or somebody else owns it or may write it.
    public func load() throws(CertificateError) -> TrustSettings {
        let stamp = FileStatus.stamp(of: path)
        if let kept = state.withLock({ $0 }), kept.stamp == stamp { return kept.settings }
        let settings = try read()
        // What is not there may be there and hidden the next time.
        state.withLock { $0 = stamp.isOfFile ? (stamp, settings) : nil }
        return settings
    }

    private func read() throws(CertificateError) -> TrustSettings {
        do throws(SystemError) {
            guard let status = try FileStatus.of(path) else { return TrustSettings() }
            try status.requireWrittenOnly(by: status.owner == 0 ? 0 : owner, path: path)
        } catch {
            throw CertificateError("the trust settings are not to be trusted: \(error)")
        }
        let bytes: [UInt8]?
        do throws(SystemError) { bytes = try BoundedFile.read(path, limit: PropertyListReader.maxLength) } catch {
            throw CertificateError("the trust settings cannot be read: \(error)")
        }
        return try bytes.map { (bytes) throws(CertificateError) in try TrustSettings(propertyList: bytes) }
            ?? TrustSettings()
    }

    /// Writes the settings in place of those that are there: the administrator's for all to read, a user's for nobody else.
    public func save(_ settings: TrustSettings) throws(CertificateError) {
        let bytes = try settings.propertyList()
        let isShared = path == Self.administrator.path
        do throws(SystemError) {
            if !isShared {
                _ = try PrivateDirectory(creating: String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]))
            }
            try WorldReadableFile.replace(path, content: bytes, mode: isShared ? 0o644 : 0o600)
        } catch {
            throw CertificateError("the trust settings cannot be written: \(error)")
        }
    }
}
