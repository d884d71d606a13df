// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem

/// Implements `find-generic-password` and `find-internet-password`.
enum PasswordPrinting {
    static let options = [
        CommandOption("-g", help: "also print the password, on standard error"),
        CommandOption("-w", help: "print the password alone, on standard output"),
    ]

    static let notes = [
        "Without criteria, the first item is found. Only the first match is printed.",
        """
        If a password has a byte outside of printable ASCII, -w prints it in lowercase hexadecimal; this cannot be \
        distinguished from a password of these digits, but the form that -g prints can be.
        """,
        """
        For an item with an access control, the person is asked, also for its attributes. Where that is not possible, \
        the exit value is 36.
        """,
    ]

    static func run(_ itemClass: ItemClass, _ arguments: ParsedArguments, in session: CommandSession)
        throws(CommandFailure)
    {
        let query = try PasswordSearch.query(itemClass, arguments)
        let keychains = try KeychainOperand.searched(arguments.operands, in: session)
        let person = try PersonPrompt(arguments)
        func find(_ returning: ReturnTypes) throws(CommandFailure) -> (value: ItemRecord, keychain: CommandKeychain) {
            try keychains.first { (keychain) throws(CommandFailure) in
                try PasswordSearch.find(query, returning: returning, in: keychain, for: person)
            }
        }
        if arguments.contains("-w") {
            return try session.writeSecret(PlainPassword.line(try find(.data).value.secrets?.data), to: .output)
        }
        let withPassword = arguments.contains("-g")
        let (record, keychain) = try find(withPassword ? [.attributes, .data] : .attributes)
        try session.write(ItemBlock(record: record, keychain: try keychain.path()).text)
        if withPassword {
            try session.writeSecret(BufferFormat.secretLine("password: ", record.secrets?.data), to: .error)
        }
    }
}
