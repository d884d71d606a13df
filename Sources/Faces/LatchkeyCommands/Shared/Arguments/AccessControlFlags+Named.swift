// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

extension AccessControlFlags {
    /// Parses Apple's names of flags, separated by commas: `userPresence`,
    /// `biometryAny,or,devicePasscode`, `privateKeyUsage,biometryCurrentSet`. The operators `and`
    /// and `or` stand between two names; without one, all constraints are required.
    ///
    /// - Returns: nil for nil.
    /// - Throws: errSecParam for an unknown name, a misplaced operator, or a combination that cannot
    ///   be created.
    static func named(_ text: String?) throws(CommandFailure) -> AccessControlFlags? {
        guard let text else { return nil }
        var flags: AccessControlFlags = []
        var wasName = false
        for word in text.split(separator: ",", omittingEmptySubsequences: false).map(String.init) {
            if let known = operators[word] {
                guard wasName else { throw misplaced(word, in: text) }
                wasName = false
                flags.insert(known)
                continue
            }
            guard let known = names.first(where: { $0.name == word }) else { throw unknown(word) }
            guard !flags.contains(known.flag) else {
                throw .parameter("the access control has the flag '\(word)' twice")
            }
            flags.insert(known.flag)
            wasName = true
        }
        guard wasName else { throw misplaced("", in: text) }
        return try checked(flags)
    }

    /// The names of the flags in the set, as ``named(_:)`` accepts them; nil if the set has other
    /// flags, or none.
    var text: String? {
        let known = Self.names.filter { contains($0.flag) }
        guard !known.isEmpty, subtracting([.and, .or]) == AccessControlFlags(known.map(\.flag)) else { return nil }
        return known.map(\.name).joined(separator: contains(.or) ? ",or," : ",")
    }

    /// The names for the help texts.
    static var listedNames: String { names.map(\.name).joined(separator: ", ") }

    private static func checked(_ flags: AccessControlFlags) throws(CommandFailure) -> AccessControlFlags {
        try CommandFailure.mapErrors(nil) { () throws(KeychainError) in _ = try AccessConstraints.parse(flags) }
        return flags
    }

    private static func unknown(_ word: String) -> CommandFailure {
        let known = names.map(\.name)
        let similar = Suggestion.nearest(to: word, among: known).map { "did you mean '\($0)'? " } ?? ""
        return .parameter(
            word.isEmpty ? "the name of an access control flag is empty" : "unknown access control flag '\(word)'",
            hint: "\(similar)expected \(listedNames), separated by a comma, by ,and, or by ,or,")
    }

    private static func misplaced(_ word: String, in text: String) -> CommandFailure {
        .parameter(
            word.isEmpty
                ? "the access control '\(text)' ends with an operator"
                : "the operator '\(word)' must stand between two flags of the access control",
            hint: "as in biometryAny,or,devicePasscode")
    }

    private static let operators: [String: AccessControlFlags] = ["and": .and, "or": .or]
    private static let names: [(name: String, flag: AccessControlFlags)] = [
        ("userPresence", .userPresence), ("devicePasscode", .devicePasscode), ("biometryAny", .biometryAny),
        ("biometryCurrentSet", .biometryCurrentSet), ("securityKey", .latchkeySecurityKey),
        ("applicationPassword", .applicationPassword), ("privateKeyUsage", .privateKeyUsage),
    ]
}
