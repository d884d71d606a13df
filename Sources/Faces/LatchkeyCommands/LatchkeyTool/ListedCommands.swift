// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// The sub-commands that swift-argument-parser has for its lists and completions only. It never parses them, because
/// the dispatcher runs them first.
enum ListedCommands {
    static let daily: [any ParsableCommand.Type] = [
        Set.self, Get.self, Copy.self, Generate.self, List.self, Move.self, Remove.self,
    ]

    struct Set: ListedCommand { static let definition = SetCommand.definition }
    struct Get: ListedCommand { static let definition = GetCommand.definition }
    struct Copy: ListedCommand { static let definition = CopyCommand.definition }
    struct Generate: ListedCommand { static let definition = GenerateCommand.definition }
    struct List: ListedCommand { static let definition = ListCommand.definition }
    struct Move: ListedCommand { static let definition = MoveCommand.definition }
    struct Remove: ListedCommand { static let definition = RemoveCommand.definition }

    static let macOS: [any ParsableCommand.Type] = [
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

    struct Help: ListedCommand { static let definition = HelpCommand.definition }
    struct Lists: ListedCommand { static let definition = ListKeychains.definition }
    struct Default: ListedCommand { static let definition = DefaultKeychain.definition }
    struct Login: ListedCommand { static let definition = LoginKeychain.definition }
    struct Creation: ListedCommand { static let definition = CreateKeychain.definition }
    struct Deletion: ListedCommand { static let definition = DeleteKeychain.definition }
    struct Password: ListedCommand { static let definition = SetKeychainPassword.definition }
    struct Lock: ListedCommand { static let definition = LockKeychain.definition }
    struct Unlock: ListedCommand { static let definition = UnlockKeychain.definition }
    struct Settings: ListedCommand { static let definition = SetKeychainSettings.definition }
    struct Info: ListedCommand { static let definition = ShowKeychainInfo.definition }
    struct Dump: ListedCommand { static let definition = DumpKeychain.definition }
    struct AddGeneric: ListedCommand { static let definition = AddGenericPassword.definition }
    struct AddInternet: ListedCommand { static let definition = AddInternetPassword.definition }
    struct FindGeneric: ListedCommand { static let definition = FindGenericPassword.definition }
    struct FindInternet: ListedCommand { static let definition = FindInternetPassword.definition }
    struct DeleteGeneric: ListedCommand { static let definition = DeleteGenericPassword.definition }
    struct DeleteInternet: ListedCommand { static let definition = DeleteInternetPassword.definition }
    struct PartitionGeneric: ListedCommand {
        static let definition = SetGenericPasswordPartitionList.definition
    }
    struct PartitionInternet: ListedCommand {
        static let definition = SetInternetPasswordPartitionList.definition
    }
    struct KeypairCreation: ListedCommand { static let definition = CreateKeypair.definition }
    struct KeyFinding: ListedCommand { static let definition = FindKey.definition }
    struct KeyDeletion: ListedCommand { static let definition = DeleteKey.definition }
    struct PartitionKey: ListedCommand { static let definition = SetKeyPartitionList.definition }
    struct Export: ListedCommand { static let definition = ExportItems.definition }
    struct Import: ListedCommand { static let definition = ImportItems.definition }
    struct Messages: ListedCommand { static let definition = CMSCommand.definition }
    struct CertificateAddition: ListedCommand { static let definition = AddCertificates.definition }
    struct CertificateFinding: ListedCommand { static let definition = FindCertificate.definition }
    struct CertificateDeletion: ListedCommand { static let definition = DeleteCertificate.definition }
    struct IdentityFinding: ListedCommand { static let definition = FindIdentity.definition }
    struct IdentityDeletion: ListedCommand { static let definition = DeleteIdentity.definition }
    struct TrustAddition: ListedCommand { static let definition = AddTrustedCert.definition }
    struct TrustRemoval: ListedCommand { static let definition = RemoveTrustedCert.definition }
    struct TrustDump: ListedCommand { static let definition = DumpTrustSettings.definition }
    struct TrustExport: ListedCommand { static let definition = ExportTrustSettings.definition }
    struct TrustImport: ListedCommand { static let definition = ImportTrustSettings.definition }
    struct Verify: ListedCommand { static let definition = VerifyCert.definition }
    struct Errors: ListedCommand { static let definition = ErrorCommand.definition }
}

/// A sub-command with its name and summary. It accepts any arguments.
protocol ListedCommand: ParsableCommand {
    static var definition: CommandDefinition { get }
}

extension ListedCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(commandName: definition.name, abstract: definition.summary)
    }
}
