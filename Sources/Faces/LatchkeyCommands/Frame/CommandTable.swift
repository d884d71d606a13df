// SPDX-License-Identifier: Apache-2.0

/// All of macOS's sub-commands in macOS's order, on which the meaning of abbreviations rests (keychain-behaviour §8.2).
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
        case built(any SecurityCommand.Type)
        /// Comes with a later version: errSecUnimplemented.
        case later
        /// Has no meaning on this system.
        case foreign
    }

    /// The entry that a name means. Abbreviations are macOS's, and for the program of that name alone.
    static func entry(_ name: CommandWord, for program: Program) -> Entry? {
        program == .security ? entry(abbreviated: name) : entries.first { $0.name.utf8.elementsEqual(name.bytes) }
    }

    /// The entry of this name, else the first whose name begins with it; nil where there is none.
    static func entry(abbreviated name: CommandWord) -> Entry? {
        guard name.count > 0 else { return nil }
        return entries.first { $0.name.utf8.elementsEqual(name.bytes) } ?? entries.first { $0.name.utf8.starts(with: name.bytes) }
    }

    /// Whether a command of this name takes the option.
    static func hasOption(_ option: String, _ command: String) -> Bool {
        entries.contains { entry in
            guard entry.name == command, case .built(let type) = entry.support else { return false }
            return type.definition.options.contains { $0.name == option }
        }
    }

    static let entries: [Entry] = [
        Entry("help", .built(HelpCommand.self)),
        Entry("list-keychains", .built(ListKeychains.self)),
        Entry("list-smartcards", .later),
        Entry("default-keychain", .built(DefaultKeychain.self)),
        Entry("login-keychain", .built(LoginKeychain.self)),
        Entry("create-keychain", .later),
        Entry("delete-keychain", .later),
        Entry("lock-keychain", .built(LockKeychain.self)),
        Entry("unlock-keychain", .built(UnlockKeychain.self)),
        Entry("set-keychain-settings", .built(SetKeychainSettings.self)),
        Entry("set-keychain-password", .later),
        Entry("show-keychain-info", .built(ShowKeychainInfo.self)),
        Entry("dump-keychain", .built(DumpKeychain.self)),
        Entry("create-keypair", .built(CreateKeypair.self)),
        Entry("add-generic-password", .built(AddGenericPassword.self)),
        Entry("add-internet-password", .built(AddInternetPassword.self)),
        Entry("add-certificates", .built(AddCertificates.self)),
        Entry("find-generic-password", .built(FindGenericPassword.self)),
        Entry("find-internet-password", .built(FindInternetPassword.self)),
        Entry("delete-generic-password", .built(DeleteGenericPassword.self)),
        Entry("delete-internet-password", .built(DeleteInternetPassword.self)),
        Entry("set-generic-password-partition-list", .built(SetGenericPasswordPartitionList.self)),
        Entry("set-internet-password-partition-list", .built(SetInternetPasswordPartitionList.self)),
        Entry("find-key", .built(FindKey.self)),
        Entry("set-key-partition-list", .built(SetKeyPartitionList.self)),
        Entry("find-certificate", .built(FindCertificate.self)),
        Entry("find-identity", .built(FindIdentity.self)),
        Entry("delete-certificate", .built(DeleteCertificate.self)),
        Entry("delete-identity", .built(DeleteIdentity.self)),
        Entry("set-identity-preference", .later),
        Entry("get-identity-preference", .later),
        Entry("create-db", .later),
        Entry("export", .built(ExportItems.self)),
        Entry("import", .built(ImportItems.self)),
        Entry("export-smartcard", .later),
        Entry("cms", .later),
        Entry("install-mds", .later),
        Entry("add-trusted-cert", .built(AddTrustedCert.self)),
        Entry("remove-trusted-cert", .built(RemoveTrustedCert.self)),
        Entry("dump-trust-settings", .built(DumpTrustSettings.self)),
        Entry("user-trust-settings-enable", .later),
        Entry("trust-settings-export", .built(ExportTrustSettings.self)),
        Entry("trust-settings-import", .built(ImportTrustSettings.self)),
        Entry("verify-cert", .built(VerifyCert.self)),
        Entry("authorize", .foreign),
        Entry("authorizationdb", .foreign),
        Entry("execute-with-privileges", .foreign),
        Entry("leaks", .foreign),
        Entry("create-filevaultmaster-keychain", .foreign),
        Entry("smartcards", .foreign),
        Entry("translocate-create", .foreign),
        Entry("translocate-policy-check", .foreign),
        Entry("translocate-status-check", .foreign),
        Entry("translocate-original-path", .foreign),
        Entry("requirement-evaluate", .foreign),
        Entry("filevault", .foreign),
        Entry("platformsso", .foreign),
        Entry("error", .built(ErrorCommand.self)),
        // Latchkey's addition, behind all others, so that no abbreviation changes its meaning.
        Entry("delete-key", .built(DeleteKey.self)),
    ]
}
