// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// A file of trust settings. It is read once, and again when it changes.
public final class TrustSettingsFile: Sendable {
    public let path: String
    /// The user who may write the file, besides root.
    let owner: UInt32
    private let state = SystemMutex<(stamp: FileStatus.Stamp, settings: TrustSettings)?>(nil)

    /// The name of the file in the directory of a keychain.
    public static let name = "trust-settings.plist"

    /// The administrator's file, for all users.
    public static let administrator = TrustSettingsFile("/etc/latchkey/\(name)", owner: 0)

    public init(_ path: String, owner: UInt32) {
        self.path = path
        self.owner = owner
    }

    /// The current settings of the file; empty if there is no file.
    ///
    /// - Throws: if the file is invalid, or another user owns it or may write it.
    public func load() throws(CertificateError) -> TrustSettings {
        // Most users have no file. One system call shows that.
        guard try status() != nil else { return TrustSettings() }
        let stamp = FileStatus.stamp(of: path)
        if let kept = state.withLock({ $0 }), kept.stamp == stamp { return kept.settings }
        let settings = try read()
        // A missing file is not cached: the same stamp could also mean that the file exists but
        // cannot be examined.
        state.withLock { $0 = stamp.isOfFile ? (stamp, settings) : nil }
        return settings
    }

    private func status() throws(CertificateError) -> FileStatus? {
        do throws(SystemError) { return try FileStatus.of(path) } catch {
            throw CertificateError("unsafe trust settings: \(error)")
        }
    }

    private func read() throws(CertificateError) -> TrustSettings {
        // Examined after the stamp was taken, so that no other file is kept under it.
        guard let status = try status() else { return TrustSettings() }
        do throws(SystemError) {
            try status.requireWrittenOnly(by: status.owner == 0 ? 0 : owner, path: path)
        } catch {
            throw CertificateError("unsafe trust settings: \(error)")
        }
        let bytes: [UInt8]?
        do throws(SystemError) { bytes = try BoundedFile.read(path, limit: PropertyListReader.maxLength) } catch {
            throw CertificateError("cannot read the trust settings: \(error)")
        }
        return try bytes.map { (bytes) throws(CertificateError) in try TrustSettings(propertyList: bytes) }
            ?? TrustSettings()
    }

    /// Replaces the file. The administrator's is readable by all users, a user's only by its owner.
    public func save(_ settings: TrustSettings) throws(CertificateError) {
        let bytes = try settings.propertyList()
        let isShared = path == Self.administrator.path
        do throws(SystemError) {
            if !isShared {
                _ = try PrivateDirectory(creating: String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]))
            }
            try WorldReadableFile.replace(path, content: bytes, mode: isShared ? 0o644 : 0o600)
        } catch {
            throw CertificateError("cannot write the trust settings: \(error)")
        }
    }
}
