// SPDX-License-Identifier: Apache-2.0

/// All of macOS's sub-commands, in macOS's order, because the order determines the meaning of abbreviations
/// (keychain-behaviour §8.2).
enum CommandTable {
    struct Entry: Sendable {
        let name: String
        let support: Support

        fileprivate init(_ name: String, _ support: Support) {
            self.name = name
            self.support = support
        }
    }

    enum Support: Sendable {
        case implemented(any SecurityCommand.Type)
        /// Not supported by this version: errSecUnimplemented.
        case planned
        /// Not applicable to this system.
        case unsupported
    }

    /// Returns the entry for a name. Only the program name `security` accepts abbreviations.
    static func entry(_ name: CommandWord, for program: Program) -> Entry? {
        program == .security ? entry(abbreviated: name) : entries.first { $0.name.utf8.elementsEqual(name.bytes) }
    }

    /// Returns the entry with this name, or the first entry with a name that begins with it; nil if no entry matches.
    static func entry(abbreviated name: CommandWord) -> Entry? {
        guard name.count > 0 else { return nil }
        return entries.first { $0.name.utf8.elementsEqual(name.bytes) }
            ?? entries.first { $0.name.utf8.starts(with: name.bytes) }
    }

    /// Returns whether the command with this name has the option.
    static func hasOption(_ option: String, _ command: String) -> Bool {
        entries.contains { entry in
            guard entry.name == command, case .implemented(let type) = entry.support else { return false }
            return type.definition.options.contains { $0.name == option }
        }
    }

    static let entries: [Entry] = [
        Entry("help", .implemented(HelpCommand.self)),
        Entry("list-keychains", .implemented(ListKeychains.self)),
        Entry("list-smartcards", .planned),
        Entry("default-keychain", .implemented(DefaultKeychain.self)),
        Entry("login-keychain", .implemented(LoginKeychain.self)),
        Entry("create-keychain", .implemented(CreateKeychain.self)),
        Entry("delete-keychain", .implemented(DeleteKeychain.self)),
        Entry("lock-keychain", .implemented(LockKeychain.self)),
        Entry("unlock-keychain", .implemented(UnlockKeychain.self)),
        Entry("set-keychain-settings", .implemented(SetKeychainSettings.self)),
        Entry("set-keychain-password", .implemented(SetKeychainPassword.self)),
        Entry("show-keychain-info", .implemented(ShowKeychainInfo.self)),
        Entry("dump-keychain", .implemented(DumpKeychain.self)),
        Entry("create-keypair", .implemented(CreateKeypair.self)),
        Entry("add-generic-password", .implemented(AddGenericPassword.self)),
        Entry("add-internet-password", .implemented(AddInternetPassword.self)),
        Entry("add-certificates", .implemented(AddCertificates.self)),
        Entry("find-generic-password", .implemented(FindGenericPassword.self)),
        Entry("find-internet-password", .implemented(FindInternetPassword.self)),
        Entry("delete-generic-password", .implemented(DeleteGenericPassword.self)),
        Entry("delete-internet-password", .implemented(DeleteInternetPassword.self)),
        Entry("set-generic-password-partition-list", .implemented(SetGenericPasswordPartitionList.self)),
        Entry("set-internet-password-partition-list", .implemented(SetInternetPasswordPartitionList.self)),
        Entry("find-key", .implemented(FindKey.self)),
        Entry("set-key-partition-list", .implemented(SetKeyPartitionList.self)),
        Entry("find-certificate", .implemented(FindCertificate.self)),
        Entry("find-identity", .implemented(FindIdentity.self)),
        Entry("delete-certificate", .implemented(DeleteCertificate.self)),
        Entry("delete-identity", .implemented(DeleteIdentity.self)),
        Entry("set-identity-preference", .planned),
        Entry("get-identity-preference", .planned),
        Entry("create-db", .planned),
        Entry("export", .implemented(ExportItems.self)),
        Entry("import", .implemented(ImportItems.self)),
        Entry("export-smartcard", .planned),
        Entry("cms", .implemented(CMSCommand.self)),
        Entry("install-mds", .planned),
        Entry("add-trusted-cert", .implemented(AddTrustedCert.self)),
        Entry("remove-trusted-cert", .implemented(RemoveTrustedCert.self)),
        Entry("dump-trust-settings", .implemented(DumpTrustSettings.self)),
        Entry("user-trust-settings-enable", .planned),
        Entry("trust-settings-export", .implemented(ExportTrustSettings.self)),
        Entry("trust-settings-import", .implemented(ImportTrustSettings.self)),
        Entry("verify-cert", .implemented(VerifyCert.self)),
        Entry("authorize", .unsupported),
        Entry("authorizationdb", .unsupported),
        Entry("execute-with-privileges", .unsupported),
        Entry("leaks", .unsupported),
        Entry("create-filevaultmaster-keychain", .unsupported),
        Entry("smartcards", .unsupported),
        Entry("translocate-create", .unsupported),
        Entry("translocate-policy-check", .unsupported),
        Entry("translocate-status-check", .unsupported),
        Entry("translocate-original-path", .unsupported),
        Entry("requirement-evaluate", .unsupported),
        Entry("filevault", .unsupported),
        Entry("platformsso", .unsupported),
        Entry("error", .implemented(ErrorCommand.self)),
        // Latchkey's addition comes last, because it must not change the meaning of an
        // abbreviation.
        Entry("delete-key", .implemented(DeleteKey.self)),
    ]
}
