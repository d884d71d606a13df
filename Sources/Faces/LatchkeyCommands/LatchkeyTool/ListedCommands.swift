// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// macOS's sub-commands, for the lists and completions of swift-argument-parser. It never parses
/// them, because the dispatcher runs them first.
enum ListedCommands {
    static let all: [any ParsableCommand.Type] = [
        Help.self, Lists.self, Default.self, Login.self, Creation.self, Deletion.self, Lock.self, Unlock.self,
        Settings.self, Password.self, Info.self, Dump.self, KeypairCreation.self, AddGeneric.self, AddInternet.self,
        CertificateAddition.self,
        FindGeneric.self,
        FindInternet.self, DeleteGeneric.self, DeleteInternet.self, PartitionGeneric.self, PartitionInternet.self,
        KeyFinding.self,
        PartitionKey.self, CertificateFinding.self, IdentityFinding.self, CertificateDeletion.self,
        IdentityDeletion.self, Export.self,
        Import.self, Messages.self, TrustAddition.self, TrustRemoval.self, TrustDump.self, TrustExport.self,
        TrustImport.self,
        Verify.self, Errors.self, KeyDeletion.self,
    ]

    struct Help: ListedCommand { static let command: any SecurityCommand.Type = HelpCommand.self }
    struct Lists: ListedCommand { static let command: any SecurityCommand.Type = ListKeychains.self }
    struct Default: ListedCommand { static let command: any SecurityCommand.Type = DefaultKeychain.self }
    struct Login: ListedCommand { static let command: any SecurityCommand.Type = LoginKeychain.self }
    struct Creation: ListedCommand { static let command: any SecurityCommand.Type = CreateKeychain.self }
    struct Deletion: ListedCommand { static let command: any SecurityCommand.Type = DeleteKeychain.self }
    struct Password: ListedCommand { static let command: any SecurityCommand.Type = SetKeychainPassword.self }
    struct Lock: ListedCommand { static let command: any SecurityCommand.Type = LockKeychain.self }
    struct Unlock: ListedCommand { static let command: any SecurityCommand.Type = UnlockKeychain.self }
    struct Settings: ListedCommand { static let command: any SecurityCommand.Type = SetKeychainSettings.self }
    struct Info: ListedCommand { static let command: any SecurityCommand.Type = ShowKeychainInfo.self }
    struct Dump: ListedCommand { static let command: any SecurityCommand.Type = DumpKeychain.self }
    struct AddGeneric: ListedCommand { static let command: any SecurityCommand.Type = AddGenericPassword.self }
    struct AddInternet: ListedCommand { static let command: any SecurityCommand.Type = AddInternetPassword.self }
    struct FindGeneric: ListedCommand { static let command: any SecurityCommand.Type = FindGenericPassword.self }
    struct FindInternet: ListedCommand { static let command: any SecurityCommand.Type = FindInternetPassword.self }
    struct DeleteGeneric: ListedCommand { static let command: any SecurityCommand.Type = DeleteGenericPassword.self }
    struct DeleteInternet: ListedCommand { static let command: any SecurityCommand.Type = DeleteInternetPassword.self }
    struct PartitionGeneric: ListedCommand {
        static let command: any SecurityCommand.Type = SetGenericPasswordPartitionList.self
    }
    struct PartitionInternet: ListedCommand {
        static let command: any SecurityCommand.Type = SetInternetPasswordPartitionList.self
    }
    struct KeypairCreation: ListedCommand { static let command: any SecurityCommand.Type = CreateKeypair.self }
    struct KeyFinding: ListedCommand { static let command: any SecurityCommand.Type = FindKey.self }
    struct KeyDeletion: ListedCommand { static let command: any SecurityCommand.Type = DeleteKey.self }
    struct PartitionKey: ListedCommand { static let command: any SecurityCommand.Type = SetKeyPartitionList.self }
    struct Export: ListedCommand { static let command: any SecurityCommand.Type = ExportItems.self }
    struct Import: ListedCommand { static let command: any SecurityCommand.Type = ImportItems.self }
    struct Messages: ListedCommand { static let command: any SecurityCommand.Type = CMSCommand.self }
    struct CertificateAddition: ListedCommand { static let command: any SecurityCommand.Type = AddCertificates.self }
    struct CertificateFinding: ListedCommand { static let command: any SecurityCommand.Type = FindCertificate.self }
    struct CertificateDeletion: ListedCommand { static let command: any SecurityCommand.Type = DeleteCertificate.self }
    struct IdentityFinding: ListedCommand { static let command: any SecurityCommand.Type = FindIdentity.self }
    struct IdentityDeletion: ListedCommand { static let command: any SecurityCommand.Type = DeleteIdentity.self }
    struct TrustAddition: ListedCommand { static let command: any SecurityCommand.Type = AddTrustedCert.self }
    struct TrustRemoval: ListedCommand { static let command: any SecurityCommand.Type = RemoveTrustedCert.self }
    struct TrustDump: ListedCommand { static let command: any SecurityCommand.Type = DumpTrustSettings.self }
    struct TrustExport: ListedCommand { static let command: any SecurityCommand.Type = ExportTrustSettings.self }
    struct TrustImport: ListedCommand { static let command: any SecurityCommand.Type = ImportTrustSettings.self }
    struct Verify: ListedCommand { static let command: any SecurityCommand.Type = VerifyCert.self }
    struct Errors: ListedCommand { static let command: any SecurityCommand.Type = ErrorCommand.self }
}

/// A sub-command of macOS with its name and summary. It accepts any arguments.
protocol ListedCommand: ParsableCommand {
    static var command: any SecurityCommand.Type { get }
}

extension ListedCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(commandName: command.definition.name, abstract: command.definition.summary)
    }
}
