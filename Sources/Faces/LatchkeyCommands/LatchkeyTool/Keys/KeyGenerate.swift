// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeychainModel
internal import KeychainSessions
internal import LatchkeyOperations
internal import LatchkeyService
internal import LinuxSystem

/// `latchkey key generate`.
struct KeyGenerate: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "generate", abstract: "Generate a key pair in the keychain.",
        discussion: """
            EXAMPLES:
              latchkey key generate --tag com.example.key
              latchkey key generate --tag com.example.key --type rsa --size 3072 \\
                  --label 'Deploy key' --not-extractable
              latchkey key generate --tag com.example.sign \\
                  --access-control privateKeyUsage,userPresence
              latchkey key generate --tag com.example.me --secure-enclave \\
                  --accessible first-unlock-this-device
            """)

    enum Kind: String, ExpressibleByArgument, CaseIterable, Sendable { case ec, rsa }

    @Option(name: [.customShort("t"), .long], help: "The tag for programs to find the key.")
    var tag: String

    @Option(help: "ec or rsa.")
    var type = Kind.ec

    @Option(help: "The size in bits: 224, 256, 384, 521 (default 256); for RSA 2048 to 8192 (default 3072).")
    var size: Int?

    @Option(help: "The display name of the key.")
    var label: String?

    @Option(help: ArgumentHelp("The access group.", valueName: "group"))
    var accessGroup: String?

    @Option(help: ArgumentHelp("The protection class: \(ProtectionClass.listedNames).", valueName: "class"))
    var accessible: String?

    @Option(
        help: ArgumentHelp(
            "The requirements of a use of the private key: \(AccessControlFlags.listedNames); joined by ,and, or ,or,.",
            valueName: "flags"))
    var accessControl: String?

    @Flag(help: "Never export the private key, not even to this command.")
    var notExtractable = false

    @Flag(
        help: ArgumentHelp(
            "Create the key in the Secure Enclave; the key never leaves it.",
            discussion: "It needs a TPM 2.0, and P-256. The key is lost if the TPM is cleared or replaced."))
    var secureEnclave = false

    @Flag(help: "Also store the public key as an item of its own.")
    var keepPublic = false

    @OptionGroup var prompting: PromptOptions

    func run(in session: CommandSession) throws(CommandFailure) {
        let kind = type == .rsa ? KeyKind(.rsa, bits: size ?? 3072) : KeyKind(.ellipticCurve, bits: size ?? 256)
        if kind.isWeak {
            throw .parameter(
                "RSA keys must have at least 2048 bits, not \(kind.bits)", hint: "--type rsa --size 3072")
        }
        if secureEnclave, kind != KeyKind(.ellipticCurve, bits: 256) {
            throw .parameter("a key in the Secure Enclave is P-256, not \(kind)", hint: "omit --type and --size")
        }
        let protection = try ProtectionClass.named(accessible)
        var flags = try AccessControlFlags.named(accessControl)
        if secureEnclave { flags?.insert(.privateKeyUsage) }
        protection?.warnIfAlwaysOpen(in: session)
        var attributes: [ItemAttribute: AttributeValue] = [
            .applicationTag: .data(Array(tag.utf8)), .label: .string(label ?? tag),
        ]
        let publicHalf = ItemAddition(.key, attributes: attributes, accessGroup: accessGroup, protection: protection)
        if secureEnclave { attributes[.tokenIdentifier] = .string(EnclaveKind.requested) }
        if notExtractable { attributes[.isExtractable] = .number(0) }
        let privateHalf = ItemAddition(
            .key, attributes: attributes, accessGroup: accessGroup,
            protection: protection ?? flags.map { _ in .whenUnlocked }, accessControlFlags: flags)
        let keychain = try session.keychain()
        try warnAboutTag(in: keychain, session)
        let made = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            try prompting.person.perform { (authentication) throws(KeychainError) in
                var generation = KeyGeneration(
                    kind, privateHalf: privateHalf, publicHalf: keepPublic ? publicHalf : nil)
                generation.privateHalf.authentication = authentication
                return try keychain.generateKey(generation)
            }
        }
        let place = made.privateHalf.enclave.map { " in the Secure Enclave (\($0.shortName))" } ?? ""
        session.io.say("latchkey: the key \(kind) was generated\(place)\n")
    }

    /// Warns if a key has the tag already: programs that look for one key by the tag find any of them.
    private func warnAboutTag(in keychain: KeychainSession, _ session: CommandSession) throws(CommandFailure) {
        let query = ItemQuery(
            .key,
            attributes: [
                .applicationTag: .data(Array(tag.utf8)), .keyClass: .number(KeyHalf.privateKey.rawValue),
            ], accessGroup: accessGroup ?? AccessGroup.shared.name, synchronizable: .any, limit: .all,
            authentication: Authentication(.skip))
        let found: Int
        do throws(KeychainError) {
            found = try keychain.copyMatching(query, returning: .persistentReference).records.count
        } catch {
            // A key of a closed class hides whether it has the tag. A new key may have a class that is open.
            guard error.status == .interactionNotAllowed else { throw .status(error) }
            found = 0
        }
        guard found > 0, !session.isQuiet else { return }
        session.io.say(
            """
            latchkey: \(found == 1 ? "a private key has" : "\(found) private keys have") the tag '\(tag)' already
            hint: programs that look for the tag find any of them; latchkey key delete --tag \(tag.shellQuoted)

            """)
    }
}
