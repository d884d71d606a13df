// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyService
internal import LinuxSystem

/// The report of `latchkey doctor --upgrade-check`, in the shape of its JSON: the formats of the files of the user's
/// keychains, and how this program handles them.
struct UpgradeReport: Encodable {
    var version = LatchkeyVersion.current
    var keychains: [Keychain]
    /// Whether this program reads all of it.
    var readable: Bool
    /// Whether it changes a format when the keychains are used.
    var upgrades: Bool
    /// The oldest release that opens the keychains after that.
    var openedFrom = KeychainFormats.firstRelease

    struct Keychain: Encodable {
        var name: String
        var files: [File]
        /// Why the formats cannot be read.
        var problem: String?
        /// The remedy for the problem.
        var hint: String?
    }

    struct File: Encodable {
        var part: String
        var found: Int
        var newest: Int
        var next: Int
    }

    /// Reads the files of this user's keychains; it opens none of them.
    static func read() throws(KeychainError) -> UpgradeReport {
        let keychains = UserKeychains(try KeychainClient.home())
        var report = UpgradeReport(keychains: [], readable: true, upgrades: false)
        for name in try keychains.names() {
            do throws(KeychainError) {
                guard let formats = try KeychainFormats.of(keychains.home(of: name)) else { continue }
                report.add(formats, of: name)
            } catch {
                report.readable = false
                report.keychains.append(
                    Keychain(name: name.text, files: [], problem: error.problem, hint: error.hint))
            }
        }
        return report
    }

    private mutating func add(_ formats: KeychainFormats, of name: KeychainName) {
        let files = formats.findings.map { finding in
            File(part: finding.part.rawValue, found: finding.found, newest: finding.newest, next: finding.next)
        }
        keychains.append(Keychain(name: name.text, files: files))
        readable = readable && formats.findings.allSatisfy(\.isReadable)
        upgrades = upgrades || formats.findings.contains(where: \.isUpgraded)
    }

    // MARK: Text

    /// Whether a newer version has written a part.
    private var isNewer: Bool { keychains.contains { $0.files.contains { $0.found > $0.newest } } }

    var text: TerminalText {
        guard !keychains.isEmpty else {
            return """
                no keychain of this user is in files here; those of the system's latchkeyd are checked by its user

                """
        }
        let last: TerminalText =
            if isNewer {
                "a newer version has written this: update latchkey\n"
            } else if !readable {
                "a keychain cannot be read; nothing was changed\n"
            } else if upgrades {
                "hint: latchkey backup FILE, before \(version) opens it; then it needs \(openedFrom) or newer\n"
            } else {
                "nothing is converted; it is opened by \(openedFrom) and newer\n"
            }
        return keychains.map(\.text).joined() + last
    }
}

extension UpgradeReport.Keychain {
    fileprivate var text: TerminalText {
        let problem: TerminalText = self.problem.map { "  cannot be read: \($0)\n" } ?? ""
        let hint: TerminalText = self.hint.map { "  hint: \($0)\n" } ?? ""
        return "keychain \(name)\n" + problem + hint + files.map(\.text).joined()
    }
}

extension UpgradeReport.File {
    fileprivate var text: TerminalText {
        let result: TerminalText =
            if found > newest {
                "NEWER than this program reads (\(newest))"
            } else if next != found {
                "becomes \(next) when the keychain is opened for writing, and unlocked"
            } else {
                "stays as it is"
            }
        return "  \(part)\(TerminalText.spaces(19 - part.count))format \(found): \(result)\n"
    }
}
