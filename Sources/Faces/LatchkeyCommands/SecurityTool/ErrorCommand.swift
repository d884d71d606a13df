// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem

/// `security error`: prints the meaning of a status. The exit value is always 1, as on macOS.
enum ErrorCommand: SecurityCommand {
    static let definition = CommandDefinition(
        name: "error",
        summary: "Show the meaning of status codes.",
        operands: "code...",
        notes: [
            """
            A code is a decimal number, a hexadecimal number with 0x, or the name of a constant. The exit value is \
            always 1.
            """
        ],
        examples: ["error -25300", "error 0xFFFF9D2C errSecDuplicateItem"],
        takesOnlyOperands: true)

    static func run(_ arguments: ParsedArguments, in session: CommandSession) throws(CommandFailure) {
        guard !arguments.operands.isEmpty else { throw .usage("the code is missing") }
        for operand in arguments.operands {
            guard let code = code(operand.text) else {
                session.io.say(
                    "security: '\(operand.text)' is not a status: use a 32-bit number or a name such as errSecParam\n")
                continue
            }
            let bits = String(UInt32(bitPattern: code.rawValue), radix: 16, uppercase: true)
            let digits = String(repeating: "0", count: 8 - bits.count) + bits
            try session.write("Error: 0x\(digits) \(code.rawValue) \(code.message ?? "unknown status")\n")
        }
        throw .reported(1)
    }

    private static func code(_ word: String) -> OSStatusCode? {
        if let named = OSStatusCode.all.first(where: { $0.name == word }) { return named.code }
        if word.hasPrefix("0x") || word.hasPrefix("0X") {
            return UInt32(word.dropFirst(2), radix: 16).map { OSStatusCode(rawValue: Int32(bitPattern: $0)) }
        }
        // Some programs print a negative status as the unsigned number with the same bits.
        return Int32(word).map(OSStatusCode.init(rawValue:))
            ?? UInt32(word).map { OSStatusCode(rawValue: Int32(bitPattern: $0)) }
    }
}
