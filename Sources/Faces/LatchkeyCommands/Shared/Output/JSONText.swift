// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import KeychainModel
package import LinuxSystem

/// Formats reports as JSON.
package enum JSONText {
    package static func of(_ report: some Encodable) throws(CommandFailure) -> TerminalText {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            return TerminalText(json: String(decoding: try encoder.encode(report), as: UTF8.self) + "\n")
        } catch {
            throw .status(KeychainError(.internalFailure, "the report could not be written as JSON: \(error)"))
        }
    }
}
