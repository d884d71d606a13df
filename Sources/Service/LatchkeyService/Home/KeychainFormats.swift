// SPDX-License-Identifier: Apache-2.0

internal import FileProtection
internal import Glibc
internal import Keybag
public import KeychainModel
internal import KeychainStore
internal import LinuxSystem

/// The versions of the formats that the files of a keychain have, and their support by this program. They are read
/// without the device key and without a change.
public struct KeychainFormats: Sendable, Equatable {
    /// A part of a keychain that has a version of its own.
    public enum Part: String, CaseIterable, Sendable {
        case database, keybag
        case sealedDeviceKey = "sealed-device-key"
        case attempts
        case storedFiles = "stored-files"
    }

    public struct Finding: Sendable, Equatable {
        public let part: Part
        /// The version; of several files, the newest one.
        public let found: Int
        /// The newest version that this program reads.
        public let newest: Int
        /// The version that the part gets when the keychain is opened for writing and unlocked; `found` if it
        /// stays as it is.
        public let next: Int

        /// Whether this program reads it.
        public var isReadable: Bool { found <= newest }
        /// Whether this program changes the version.
        public var isUpgraded: Bool { next != found }
    }

    public let findings: [Finding]

    /// Reads the files of one keychain.
    ///
    /// - Returns: nil if it does not exist.
    /// - Throws: errSecNotAvailable if the database is not one of a keychain.
    public static func of(_ home: KeychainHome) throws(KeychainError) -> KeychainFormats? {
        do throws(SystemError) {
            guard try FileStatus.ofLink(home.databasePath) != nil else { return nil }
        } catch {
            throw KeychainError(error)
        }
        let versions: (tables: Int, keybag: Int?)
        do throws(StoreError) {
            versions = try KeychainStore.storedVersions(path: home.databasePath)
        } catch {
            throw KeychainError(error)
        }
        let newest = KeychainStore.formatVersion
        var findings = [
            Finding(part: .database, found: versions.tables, newest: newest, next: max(versions.tables, newest))
        ]
        if let keybag = versions.keybag {
            findings.append(
                Finding(
                    part: .keybag, found: keybag, newest: StoredKeybag.newestVersion,
                    next: max(keybag, StoredKeybag.raisedVersion)))
        }
        if let sealed = head(of: home.deviceKeyPath(.tpm), count: 1), let version = sealed.first {
            findings.append(kept(.sealedDeviceKey, Int(version), newest: 2))
        }
        if let attempts = head(of: "\(home.stateDirectory)/passcode.attempts", count: 8) {
            findings.append(kept(.attempts, version(attempts.dropFirst(6)), newest: 1))
        }
        if let newest = storedFileVersions(home).max() {
            findings.append(kept(.storedFiles, newest, newest: Int(ContainerFormat.version)))
        }
        return KeychainFormats(findings: findings)
    }

    private static func kept(_ part: Part, _ found: Int, newest: Int) -> Finding {
        Finding(part: part, found: found, newest: newest, next: found)
    }

    /// The versions of the files that items stand for.
    private static func storedFileVersions(_ home: KeychainHome) -> Set<Int> {
        guard let directory = try? OpenDirectory(home.filesDirectory), let entries = try? directory.entries() else {
            return []
        }
        let heads = entries.compactMap { entry in
            entry.name.text.flatMap { head(of: "\(home.filesDirectory)/\($0)", count: 10) }
        }
        return Set(heads.map { version($0.dropFirst(8)) })
    }

    /// The first bytes of a file; nil if it is missing, or shorter.
    private static func head(of path: String, count: Int) -> [UInt8]? {
        do throws(SystemError) {
            let file = try OwnedDescriptor(opening: path, flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
            let bytes = try file.read(upTo: count, path: path)
            return bytes.count == count ? bytes : nil
        } catch {
            return nil
        }
    }

    /// The version at the end of a head.
    private static func version(_ bytes: ArraySlice<UInt8>) -> Int { Int(bigEndianBytes: bytes) ?? .max }

    /// The first release. It reads every version of each part so far. A release that writes a later version is named
    /// here, with the versions that it raised.
    public static let firstRelease = "0.1.0"
}
