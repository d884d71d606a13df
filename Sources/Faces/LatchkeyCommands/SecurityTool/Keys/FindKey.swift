// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyOperations
internal import LatchkeyService
internal import LinuxSystem

/// `security find-key`.
enum FindKey: SecurityCommand {
    static let definition = CommandDefinition(
        name: "find-key", summary: "Show the keys that have these attributes.",
        options: KeyCriteria.options + CommandOption.passcode,
        operands: "[keychain...]", examples: ["find-key -t private -s", "find-key --tag com.example.key"])

    static func run(_ arguments: ParsedArguments, in session: CommandSession) throws(CommandFailure) {
        for (record, keychain) in try matches(arguments, in: session) {
            try session.write(ItemBlock(record: record, keychain: try keychain.path()).text)
        }
    }

    /// Returns the keys that have the given attributes, each with its keychain.
    ///
    /// - Throws: errSecItemNotFound if there are none.
    static func matches(
        _ arguments: ParsedArguments, in session: CommandSession
    ) throws(CommandFailure) -> [(value: ItemRecord, keychain: CommandKeychain)] {
        let attributes = try KeyCriteria.attributes(arguments)
        let found = try KeychainOperand.searched(arguments.operands, in: session).all(in: session) {
            (keychain) throws(CommandFailure) in
            try KeySearch.listed(attributes, group: arguments.accessGroup, in: keychain, session)
        }
        guard !found.isEmpty else { throw .status(.itemNotFound, of: PasswordSearch.function) }
        return found
    }
}

/// `security delete-key`, a command that macOS does not have.
enum DeleteKey: SecurityCommand {
    static let definition = CommandDefinition(
        name: "delete-key", summary: "Delete a key (Latchkey's addition).",
        options: KeyCriteria.options + [CommandOption("--all", help: "delete every match, not only a single one")]
            + CommandOption.prompt + CommandOption.passcode,
        operands: "[keychain...]",
        notes: [
            """
            At least one attribute must be given. Several matches are refused unless --all is given: data encrypted \
            for a deleted key cannot be decrypted.
            """
        ],
        examples: ["delete-key -t private --tag com.example.key", "delete-key --all -l 'Deploy key'"])

    static func run(_ arguments: ParsedArguments, in session: CommandSession) throws(CommandFailure) {
        let attributes = try KeyCriteria.attributes(arguments)
        guard !attributes.isEmpty else { throw .usage("at least one attribute must be given") }
        let person = try PersonPrompt(arguments)
        let found = try KeychainOperand.searched(arguments.operands, in: session).all(in: session) {
            (keychain) throws(CommandFailure) in
            try KeySearch.all(attributes, group: arguments.accessGroup, in: keychain, for: person)
        }
        guard !found.isEmpty else { throw .status(.itemNotFound, of: PasswordSearch.function) }
        guard found.count == 1 || arguments.contains("--all") else {
            throw .parameter(
                "\(found.count) keys match", hint: "-t private or -t public selects one of them; --all deletes all")
        }
        for (record, keychain) in found {
            let item = ItemQuery(.key, synchronizable: .any, persistentReference: record.persistentReference)
            try CommandFailure.mapErrors("SecKeychainItemDelete") { () throws(KeychainError) in
                guard try keychain.session.delete(item) > 0 else { throw .itemNotFound }
            }
            try session.write(ItemBlock(record: record, keychain: try keychain.path()).text)
        }
        session.io.say("\(found.count == 1 ? "key has" : "\(found.count) keys have") been deleted.\n")
    }
}

/// `security set-key-partition-list`.
enum SetKeyPartitionList: SecurityCommand {
    static let definition = CommandDefinition(
        name: "set-key-partition-list", summary: "Set the partition list of keys (kept without effect).",
        options: KeyCriteria.options + PartitionList.options, operands: "[keychain]", notes: PartitionList.notes,
        examples: ["set-key-partition-list -S apple-tool:,apple: -s -k password"])

    static func run(_ arguments: ParsedArguments, in session: CommandSession) throws(CommandFailure) {
        let partitions = PartitionList.partitions(arguments)
        var password = try KeychainCheck(arguments, in: session)
        let person = PersonPrompt()
        for (record, keychain) in try FindKey.matches(arguments, in: session) {
            try password.verify(keychain)
            try PartitionList.set(partitions, of: record, in: keychain, for: person)
            try session.write(ItemBlock(record: record, keychain: try keychain.path()).text)
        }
    }
}
