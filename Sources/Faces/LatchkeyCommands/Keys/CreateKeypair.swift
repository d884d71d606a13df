// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyService
internal import LinuxSystem

/// `security create-keypair`.
enum CreateKeypair: SecurityCommand {
    static let definition = CommandDefinition(
        name: "create-keypair", summary: "Make a pair of keys, and keep both halves.",
        options: [
            CommandOption(
                "-a", .required("algorithm"), help: "rsa, or ec (Latchkey's addition); dh, dsa and fee are not made"),
            CommandOption(
                "-s", .required("size"), help: "the size in bits; 2048 for RSA, 256 for EC where none is given"),
            CommandOption("-f", .required("date"), help: "accepted; a key's use is not bound to dates"),
            CommandOption("-t", .required("date"), help: "accepted; a key's use is not bound to dates"),
            CommandOption("-d", .required("days"), help: "accepted; a key's use is not bound to dates"),
            CommandOption("-k", .required("keychain"), help: "the keychain"),
            CommandOption("-A", help: "accepted; programs are kept apart by access groups"),
            CommandOption("-T", .required("program"), help: "accepted; programs are kept apart by access groups"),
            CommandOption("--tag", .required("tag"), help: "the application tag (Latchkey's addition)"), .accessGroup,
        ],
        operands: "description",
        examples: [
            "create-keypair -a rsa -s 3072 'Deploy key'", "create-keypair -a ec --tag com.example.key 'Example key'",
        ])

    static func run(_ arguments: ParsedArguments, in session: CommandSession) throws(CommandFailure) {
        guard let description = arguments.operands.first, arguments.operands.count == 1 else {
            throw .usage("a description must be given: the label of both halves")
        }
        let kind = try kind(arguments)
        if kind.canBeGenerated, kind.isWeak {
            session.warn("RSA keys of less than 2048 bits protect little", hint: "-s 3072")
        }
        let keychain = try KeychainOperand.check(arguments["-k"].map { [$0] } ?? [], in: session)
        var attributes: [ItemAttribute: AttributeValue] = [.label: description.attributeValue]
        if let tag = arguments["--tag"] { attributes[.applicationTag] = .data(tag.bytes) }
        let half = ItemAddition(.key, attributes: attributes, accessGroup: arguments.accessGroup)
        _ = try CommandFailure.mapErrors("SecKeyCreatePair") { () throws(KeychainError) in
            try keychain.generateKey(KeyGeneration(kind, privateHalf: half, publicHalf: half), from: session.caller)
        }
    }

    private static func kind(_ arguments: ParsedArguments) throws(CommandFailure) -> KeyKind {
        let size = arguments["-s"].map { Int($0.text) ?? -1 }
        switch arguments["-a"]?.text.lowercased() ?? "rsa" {
        case "rsa": return KeyKind(.rsa, bits: size ?? 2048)
        case "ec", "ecdsa": return KeyKind(.ellipticCurve, bits: size ?? 256)
        case let other:
            throw .status(
                KeychainError(.unimplemented, "keys of the algorithm '\(other)' are not made", hint: "-a rsa, or -a ec")
            )
        }
    }
}
