// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem

/// The search criteria of `find-key`, `delete-key` and `set-key-partition-list` (keychain-behaviour
/// §8.2).
enum KeyCriteria {
    static let options: [CommandOption] = [
        CommandOption(
            "-a", .required("appLabel"), as: .attribute(.applicationLabel, .text), help: "the application label"),
        CommandOption(
            "-l", .required("label"), as: .attribute(.label, .text), help: "the label, the key's display name"),
        CommandOption(
            "-c", .required("creator"), as: .attribute(.creator, .codeNumber), help: "the creator, 4 characters"),
        CommandOption("-D", .required("kind"), help: "accepted; keys have no description"),
        CommandOption("-j", .required("comment"), help: "accepted; keys have no comment"),
        CommandOption("-t", .required("type"), help: "symmetric, public or private"),
        CommandOption("-d", help: "keys that decrypt"), CommandOption("-e", help: "keys that encrypt"),
        CommandOption("-r", help: "keys that derive"), CommandOption("-s", help: "keys that sign"),
        CommandOption("-u", help: "keys that unwrap"), CommandOption("-v", help: "keys that verify"),
        CommandOption("-w", help: "keys that wrap"),
        CommandOption("--tag", .required("tag"), help: "the application tag (Latchkey's addition)"), .accessGroup,
    ]

    static func attributes(_ arguments: ParsedArguments) throws(CommandFailure) -> [ItemAttribute: AttributeValue] {
        var attributes = try arguments.attributes()
        if case .string(let text)? = attributes[.applicationLabel] {
            attributes[.applicationLabel] = .data(applicationLabel(text))
        }
        if let tag = arguments["--tag"] { attributes[.applicationTag] = .data(tag.bytes) }
        if let type = arguments["-t"] {
            guard let number = ["public", "private", "symmetric"].firstIndex(of: type.text) else {
                throw .parameter("the value of -t must be symmetric, public or private, but is '\(type.text)'")
            }
            attributes[.keyClass] = .number(Int64(number))
        }
        for (option, attribute) in capabilities where arguments.contains(option) { attributes[attribute] = .number(1) }
        return attributes
    }

    /// Returns the bytes of an application label, given as 40 hexadecimal digits or as its text.
    static func applicationLabel(_ text: String) -> [UInt8] {
        let digits = Array(text.utf8)
        guard digits.count == 40, let bytes = Hexadecimal.bytes(digits, letters: .any) else { return digits }
        return bytes
    }

    private static let capabilities: [(String, ItemAttribute)] = [
        ("-d", .canDecrypt), ("-e", .canEncrypt), ("-r", .canDerive), ("-s", .canSign), ("-u", .canUnwrap),
        ("-v", .canVerify),
        ("-w", .canWrap),
    ]
}
