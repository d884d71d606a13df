// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

extension CommandOption {
    static let everyProgram = CommandOption("-A", help: "accepted and kept: every program is trusted, as below")
    static let trustedProgram = CommandOption(
        "-T", .required("program"), help: "accepted and kept: a trusted program, as below")

    /// The help notes of every command with these two options.
    static let accessListNotes = [
        """
        -A, or -T once for each program (-T '' for no program), is a record of the request: it is kept with the item, \
        'security dump-keychain -a' shows it, and it neither allows nor denies anything. Access groups separate \
        programs. Without -A and -T nothing is kept; on macOS, the command itself is then trusted.
        """
    ]
}

extension ParsedArguments {
    /// Returns the access list that `-A` and `-T` state, as an attribute; nil without them. `-A` takes
    /// precedence.
    ///
    /// - Parameter name: the label of the item; the list repeats it.
    /// - Throws: errSecParam for a program that is not UTF-8, and for a list that exceeds a limit.
    func accessList(named name: AttributeValue?) throws(KeychainError) -> AttributeValue? {
        guard contains("-A") || contains("-T") else { return nil }
        let name = String(decoding: name?.canonicalBytes ?? [], as: UTF8.self)
        let paths = try trustedPrograms()
        return try AccessList(name: name, programs: contains("-A") ? .any : .listed(paths)).attributeValue
    }

    private func trustedPrograms() throws(KeychainError) -> [String] {
        var paths: [String] = []
        for occurrence in occurrences where occurrence.option.name == "-T" {
            guard let word = occurrence.value, word.count > 0 else { continue }
            guard let path = String(validating: word.bytes, as: UTF8.self) else {
                throw .parameter("the program of -T must be UTF-8")
            }
            paths.append(path)
        }
        return paths
    }
}
