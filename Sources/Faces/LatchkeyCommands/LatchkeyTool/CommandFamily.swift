// SPDX-License-Identifier: Apache-2.0

/// The commands of `latchkey` by topic, as its help shows them: `latchkey help FAMILY`.
enum CommandFamily: String, CaseIterable, Sendable {
    case daily, keychain, protection, files, keys, certificates, machine
    /// The commands of macOS's `security`.
    case macos

    /// The purpose of the family's commands.
    var summary: String {
        switch self {
        case .daily: "secrets in everyday use"
        case .keychain: "the keychain as a whole"
        case .protection: "the passcode and the lock"
        case .files: "files that obey the lock, and secrets in others"
        case .keys: "keys in the keychain, security keys, and the keys to the keychain"
        case .certificates: "certificates and connections"
        case .machine: "this machine, and how to solve problems"
        case .macos: "the commands of macOS's security"
        }
    }

    /// Latchkey's own commands of this family.
    var members: [LatchkeySubcommand] {
        switch self {
        case .daily: [.set, .get, .copy, .generate, .list, .rm]
        case .keychain: [.status, .backup, .restore, .who, .policy, .mv, .collection]
        case .protection: [.passcode, .lock, .unlock, .settings, .consent, .withPasscode, .agent]
        case .files: [.protect, .unprotect, .cat, .edit, .mount, .lint]
        case .keys: [.key, .securityKey, .recoveryKey, .root]
        case .certificates: [.certificate, .trust, .ats, .tls, .pin]
        case .machine: [.setup, .daemon, .session, .log, .doctor, .entitlements, .explain]
        case .macos: []
        }
    }

    /// The commands of macOS's that belong to this family as well, because Latchkey has added to them.
    var extendedMembers: [any SecurityCommand.Type] { self == .keychain ? [ImportItems.self] : [] }
}
