// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyOperations
internal import LatchkeyService
internal import LinuxSystem

/// `security create-keypair`.
enum CreateKeypair: SecurityCommand {
    static let definition = CommandDefinition(
        name: "create-keypair", summary: "Generate a key pair, and store both keys.",
        options: [
            CommandOption(
                "-a", .required("algorithm"), help: "rsa, or ec (Latchkey's addition); not dh, dsa and fee"),
            CommandOption(
                "-s", .required("size"), help: "the size in bits; the default is 2048 for RSA, 256 for EC"),
            CommandOption("-f", .required("date"), help: "accepted; keys have no validity dates"),
            CommandOption("-t", .required("date"), help: "accepted; keys have no validity dates"),
            CommandOption("-d", .required("days"), help: "accepted; keys have no validity dates"),
            CommandOption("-k", .required("keychain"), help: "the keychain"),
            .everyProgram, .trustedProgram,
            CommandOption("--tag", .required("tag"), help: "the application tag (Latchkey's addition)"), .accessGroup,
        ],
        operands: "description",
        notes: CommandOption.accessListNotes,
        examples: [
            "create-keypair -a rsa -s 3072 'Deploy key'", "create-keypair -a ec --tag com.example.key 'Example key'",
        ])

    static func run(_ arguments: ParsedArguments, in session: CommandSession) throws(CommandFailure) {
        guard let description = arguments.operands.first, arguments.operands.count == 1 else {
            throw .usage("the description is missing: the label of both keys")
        }
        let kind = try kind(arguments)
        if kind.canBeGenerated, kind.isWeak {
            session.warn("RSA keys of less than 2048 bits are weak", hint: "-s 3072")
        }
        let keychain = try KeychainOperand.changed(arguments["-k"], in: session).session
        var attributes: [ItemAttribute: AttributeValue] = [.label: description.attributeValue]
        if let tag = arguments["--tag"] { attributes[.applicationTag] = .data(tag.bytes) }
        attributes[.accessList] = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            try arguments.accessList(named: description.attributeValue)
        }
        let half = ItemAddition(.key, attributes: attributes, accessGroup: arguments.accessGroup)
        _ = try CommandFailure.mapErrors("SecKeyCreatePair") { () throws(KeychainError) in
            try keychain.generateKey(KeyGeneration(kind, privateHalf: half, publicHalf: half))
        }
    }

    private static func kind(_ arguments: ParsedArguments) throws(CommandFailure) -> KeyKind {
        let size = arguments["-s"].map { Int($0.text) ?? -1 }
        switch arguments["-a"]?.text.lowercased() ?? "rsa" {
        case "rsa": return KeyKind(.rsa, bits: size ?? 2048)
        case "ec", "ecdsa": return KeyKind(.ellipticCurve, bits: size ?? 256)
        case let other:
            throw .status(
                KeychainError(.unimplemented, "the algorithm '\(other)' is not supported", hint: "-a rsa, or -a ec")
            )
        }
    }
}
