// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeychainModel
internal import LatchkeyService
internal import LinuxSystem

/// `latchkey key list`.
struct KeyList: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Show the keys of the keychain.",
        discussion: """
            EXAMPLES:
              latchkey key list
              latchkey key list --json
            """)

    @Option(help: ArgumentHelp("Only this access group.", valueName: "group"))
    var accessGroup: String?

    @Flag(help: "Print JSON.")
    var json = false

    func run(in session: CommandSession) throws(CommandFailure) {
        let keys = try KeySearch.listed([:], group: accessGroup, in: session.keychain(), session).map(KeyReport.init)
        if json { return try session.write(JSONText.of(keys)) }
        for key in keys { try session.write(key.line) }
    }
}

/// A key in the list of `latchkey key list`, in the shape of its JSON.
struct KeyReport: Encodable {
    var kind: String
    var half: String
    var tag: String?
    var label: String?
    /// The SHA-1 of the public key, in hexadecimal.
    var applicationLabel: String?
    var accessGroup: String
    /// Apple's code of the protection class, and its name.
    var accessible: String
    var protectionName: String
    /// The requirements of each use, in the form of `--access-control`; absent if there are none.
    var accessControl: String?
    var isExtractable: Bool
    /// Where the private key is held: `tpm`, `software`; absent if it is not in a Secure Enclave.
    var enclave: String?
    /// Whether it is an RSA key below 2048 bits or a curve below 224.
    var isWeak: Bool

    init(_ record: ItemRecord) {
        let bits = Self.number(record[.keySizeInBits]) ?? 0
        let type = Self.number(record[.type]).flatMap { KeyType(rawValue: $0) }
        let known = type.map { KeyKind($0, bits: Int(clamping: bits)) }
        kind = known?.description ?? "other"
        isWeak = known?.isWeak ?? false
        half = ["public", "private", "symmetric"][Int(min(max(Self.number(record[.keyClass]) ?? 2, 0), 2))]
        tag = Self.text(record[.applicationTag])
        label = Self.text(record[.label])
        if case .data(let bytes)? = record[.applicationLabel], !bytes.isEmpty {
            applicationLabel = Hexadecimal.text(bytes)
        }
        accessGroup = record.accessGroup.name
        accessible = record.protection.rawValue
        protectionName = record.protection.name
        accessControl = record.accessControlFlags?.text
        isExtractable = record[.isExtractable] != .number(0)
        enclave = record.enclave?.shortName
    }

    var line: TerminalText {
        let name = tag ?? label ?? applicationLabel ?? "-"
        let mark: TerminalText = isExtractable ? "" : "\tnot extractable"
        let place: TerminalText = enclave.map { "\tSecure Enclave (\($0))" } ?? ""
        let strength: TerminalText = isWeak ? "\tweak" : ""
        let control: TerminalText = accessControl.map { "\t\($0)" } ?? ""
        return "\(kind)\t\(half)\t\(name)\t\(accessGroup)\(mark)\(place)\(strength)\(control)\n"
    }

    private static func number(_ value: AttributeValue?) -> Int64? {
        if case .number(let number)? = value { number } else { nil }
    }

    private static func text(_ value: AttributeValue?) -> String? {
        switch value {
        case .string(let text) where !text.isEmpty: text
        case .data(let bytes) where !bytes.isEmpty: String(validating: bytes, as: UTF8.self) ?? Hexadecimal.text(bytes)
        default: nil
        }
    }
}
