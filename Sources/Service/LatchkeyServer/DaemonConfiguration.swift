// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import LinuxSystem

/// The configuration of the system's daemon: `/etc/latchkey/daemon.conf`, lines of `name = value`.
///
/// ```
/// max-bytes-per-user = 256 MiB    # or B, KiB, GiB
/// max-items-per-user = 100000
/// subordinate-users = refuse      # or allow
/// always-classes = allow          # or refuse
/// tpm = device:/dev/tpmrm0        # or none
/// ```
public struct DaemonConfiguration: Sendable, Equatable {
    /// The limits of all keychains of a user together.
    public var quota = KeychainQuota()
    /// Whether subordinate user ids (subuid(5)) have keychains.
    public var allowsSubordinateUsers = false
    /// Whether new items may have a class that opens without the passcode
    /// (`kSecAttrAccessibleAlways`).
    public var allowsAlwaysOpen = true
    /// The address of the TPM, or `none`; nil for the machine's, if it has one.
    public var tpm: String?

    public static let systemPath = "/etc/latchkey/daemon.conf"

    /// Reads the file; returns the defaults if there is no file.
    ///
    /// - Throws: if the file is not valid, or if users other than its owner can write it. Such a
    ///   file is never ignored.
    public static func load(from path: String = systemPath, owner: UInt32 = 0) throws(SystemError)
        -> DaemonConfiguration
    {
        var configuration = DaemonConfiguration()
        let names = Set(Name.allCases.map(\.rawValue))
        guard let file = try ConfigurationFile.read(path, owner: owner, names: names) else { return configuration }
        for line in file.lines {
            guard let name = Name(rawValue: line.name) else { continue }
            switch name {
            case .maxBytes:
                guard let bytes = bytes(line.value), bytes >= minBytes else {
                    throw file.refusal(of: line, expected: "a size of 1 MiB or more")
                }
                configuration.quota.bytes = bytes
            case .maxItems:
                guard let items = Int(line.value), items > 0 else {
                    throw file.refusal(of: line, expected: "a number above 0")
                }
                configuration.quota.items = items
            case .subordinateUsers:
                configuration.allowsSubordinateUsers = try allows(line, in: file)
            case .alwaysClasses:
                configuration.allowsAlwaysOpen = try allows(line, in: file)
            case .tpm: configuration.tpm = line.value
            }
        }
        return configuration
    }

    private enum Name: String, CaseIterable {
        case maxBytes = "max-bytes-per-user"
        case maxItems = "max-items-per-user"
        case subordinateUsers = "subordinate-users"
        case alwaysClasses = "always-classes"
        case tpm
    }

    private static func allows(
        _ line: ConfigurationFile.Line, in file: ConfigurationFile
    ) throws(SystemError) -> Bool {
        switch line.value {
        case "allow": return true
        case "refuse": return false
        default: throw file.refusal(of: line, expected: "allow or refuse")
        }
    }

    /// A size such as `256 MiB`.
    private static func bytes(_ text: String) -> Int? {
        let words = text.split(whereSeparator: \.isWhitespace)
        guard words.count == 2, let number = words.first.flatMap({ Int($0) }), number > 0 else { return nil }
        let units = ["B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30]
        guard let unit = words.last.flatMap({ units[String($0)] }) else { return nil }
        let (bytes, isTooLarge) = number.multipliedReportingOverflow(by: unit)
        return isTooLarge ? nil : bytes
    }

    /// 1 MiB; an empty keychain takes some hundred KiB.
    private static let minBytes = 1 << 20
}
