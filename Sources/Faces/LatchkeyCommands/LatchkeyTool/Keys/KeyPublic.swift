// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeyServices
internal import KeychainModel
internal import LatchkeyOperations
internal import LatchkeyService
internal import LinuxSystem
internal import SecretMemory

/// `latchkey key public`.
struct KeyPublic: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "public", abstract: "Print the public half of a key.",
        discussion: """
            EXAMPLES:
              latchkey key public --tag com.example.key > public.pem
              latchkey key public --tag com.example.key --format openssh \\
                  >> ~/.ssh/authorized_keys
            """)

    enum Format: String, ExpressibleByArgument, CaseIterable, Sendable { case pem, der, pkcs1, openssh, external }

    @OptionGroup var key: KeySelector
    @OptionGroup var passphrase: KeyPassphrase
    @OptionGroup var output: KeyOutputOptions

    @Option(
        help: "pem and der are SubjectPublicKeyInfo; pkcs1; openssh; external is SecKeyCopyExternalRepresentation's.")
    var format = Format.pem

    func run(in session: CommandSession) throws(CommandFailure) {
        let secret = try passphrase.read(in: session)
        let key = try key.publicKey(secret, in: session)
        let file = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            switch format {
            case .pem: try KeyFile.write(.publicKey(key), as: .pkcs8)
            case .der: try KeyFile.write(.publicKey(key), as: .pkcs8, isPEM: false)
            case .pkcs1: try KeyFile.write(.publicKey(key), as: .traditional)
            case .openssh: try KeyFile.write(.publicKey(key), as: .openSSH)
            case .external: try KeyFile.write(.publicKey(key), as: .external)
            }
        }
        try output.write(file, in: session)
    }
}

/// `latchkey key delete`.
struct KeyDelete: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Delete the key pair with a tag or label.",
        discussion: """
            Several pairs are refused unless --all is given: data encrypted for a deleted key cannot be decrypted.

            EXAMPLES:
              latchkey key delete --tag com.example.key --dry-run
              latchkey key delete --tag com.example.key
            """)

    @Option(name: [.customShort("t"), .long], help: "The tag, the label, or the application label.")
    var tag: String

    @Flag(help: "Delete every pair with the tag or label.")
    var all = false

    @Option(help: ArgumentHelp("Only this access group.", valueName: "group"))
    var accessGroup: String?

    @Flag(name: [.customShort("n"), .long], help: "Only show the keys that would be deleted.")
    var dryRun = false

    @OptionGroup var prompting: PromptOptions

    func run(in session: CommandSession) throws(CommandFailure) {
        let keychain = try session.keychain()
        let found = try KeySearch.named(tag, group: accessGroup, in: keychain, for: prompting.person)
        guard !found.isEmpty else {
            throw .status(
                KeychainError(
                    .itemNotFound, "there is no key with the tag or label '\(tag)'", hint: "latchkey key list"))
        }
        let pairs = Set(found.map { $0[.applicationLabel]?.canonicalBytes ?? [] }).count
        guard pairs == 1 || all || dryRun else {
            throw .parameter(
                "\(pairs) pairs have the tag or label '\(tag)'",
                hint: "--all deletes them; --dry-run shows them; an application label selects one")
        }
        for key in found {
            session.io.say("latchkey: \(dryRun ? "would delete" : "deleting") \(KeyReport(key).line)")
            if dryRun { continue }
            let item = ItemQuery(.key, synchronizable: .any, persistentReference: key.persistentReference)
            try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
                guard try keychain.delete(item) > 0 else { throw .itemNotFound }
            }
        }
    }
}
