// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyOperations
internal import LatchkeyService
internal import LinuxSystem
internal import SecretMemory

/// Implements the partition-list commands: they set the partitions of every matching item.
enum PartitionList {
    static let options = [
        CommandOption("-S", .required("list"), isRequired: true, help: "the partitions, separated by commas"),
        CommandOption("-k", .required("password"), help: "the keychain's password, also to unlock it"),
    ]

    static let notes = [
        """
        On macOS, a partition list names the signed programs that may use an item. Programs are not signed here: the \
        list is a record of the request, shown by 'security dump-keychain -a', and it neither allows nor denies \
        anything. Access groups separate programs. The command fails if there is no such item.
        """,
        """
        A wrong password is an error, as on macOS; a login keychain without a passcode accepts any. Without -k, the \
        keychain must be unlocked.
        """,
    ]

    static func run(_ itemClass: ItemClass, _ arguments: ParsedArguments, in session: CommandSession)
        throws(CommandFailure)
    {
        var query = try PasswordSearch.query(itemClass, arguments)
        query.limit = .all
        var password = try KeychainCheck(arguments, in: session)
        let person = PersonPrompt()
        let found = try KeychainOperand.searched(arguments.operands, in: session).all(in: session) {
            (keychain) throws(CommandFailure) in
            try PasswordSearch.matchesOfFirstGroup(query, returning: .attributes, in: keychain, for: person).records
        }
        guard !found.isEmpty else { throw .status(.itemNotFound, of: PasswordSearch.function) }
        // All passwords before the first change.
        for (_, keychain) in found { try password.verify(keychain) }
        for (record, keychain) in found {
            try set(partitions(arguments), of: record, in: keychain, for: person)
        }
    }

    /// Returns the partitions that `-S` names, in order; none for an empty word.
    static func partitions(_ arguments: ParsedArguments) -> [String] {
        (arguments["-S"]?.text ?? "").split(separator: ",").map(String.init)
    }

    /// Sets the partitions of an item. Its access list keeps its name and its programs.
    static func set(
        _ partitions: [String], of record: ItemRecord, in keychain: CommandKeychain, for person: PersonPrompt
    ) throws(CommandFailure) {
        try keychain.requireChangeable()
        try CommandFailure.mapErrors(function) { () throws(KeychainError) -> Void in
            let known = try record.accessList()
            let list = try AccessList(
                name: known?.name ?? "", programs: known?.programs ?? .unspecified, partitions: partitions)
            let update = ItemUpdate(attributes: [.accessList: list.attributeValue])
            let item = ItemQuery(
                record.itemClass, synchronizable: .any, persistentReference: record.persistentReference)
            try person.perform { (authentication) throws(KeychainError) in
                var item = item
                item.authentication = authentication
                guard try keychain.session.update(item, with: update) > 0 else { throw .itemNotFound }
            }
        }
    }

    /// macOS's name for the call.
    fileprivate static let function = "SecKeychainItemSetAccessWithPassword"
}

/// The password that `-k` gives for the keychains of a partition-list command.
struct KeychainCheck {
    /// nil without `-k`.
    private let password: SharedSecret?
    private let program: Program
    private var verified: Set<KeychainName> = []

    /// Unlocks the named keychain, or the default one, if it is locked. It stays unlocked, as on macOS.
    init(_ arguments: ParsedArguments, in session: CommandSession) throws(CommandFailure) {
        (password, program) = (arguments["-k"]?.secret, session.program)
        guard password != nil else { return }
        let keychains =
            arguments.operands.isEmpty
            ? [try KeychainOperand.one(nil, in: session)]
            : try KeychainOperand.searched(arguments.operands, in: session)
        for keychain in keychains where keychain.isLocked { try verify(keychain, in: "SecKeychainUnlock") }
    }

    /// Requires that the password is that of the keychain of an item. A login keychain without a passcode
    /// has none that could be wrong.
    mutating func verify(
        _ keychain: CommandKeychain, in function: String = PartitionList.function
    ) throws(CommandFailure) {
        guard let password, let name = keychain.name, verified.insert(name).inserted else { return }
        let hasPasscode = try LockOperations.hasPasscode(keychain.session)
        guard hasPasscode || name != .login else { return }
        do throws(KeychainError) {
            guard hasPasscode == (password.count > 0) else { throw KeychainError(.authFailed) }
            if hasPasscode { try keychain.session.unlock(password) { _, _ in } }
        } catch {
            guard error.status == .authFailed else { throw .status(error, of: function) }
            // macOS's words and exit value, because fastlane recognizes a wrong password by them.
            throw .line(
                "\(program.rawValue): \(function): The user name or passphrase you entered is not correct.",
                hint: error.hint ?? (error.problem == error.status.message ? nil : error.problem))
        }
    }
}
