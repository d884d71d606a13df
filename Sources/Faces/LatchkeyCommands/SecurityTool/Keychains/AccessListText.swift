// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem

/// An access list as `dump-keychain -a` prints it (keychain-behaviour §8.3): one entry for the trusted
/// programs and one for the partitions, if they are known.
///
/// Unlike on macOS, entries that every item has are not printed, and no `(OK)` follows a path: programs
/// are not signed here.
struct AccessListText {
    /// nil for an item without a list.
    let list: AccessList?

    var text: TerminalText {
        let entries = entries
        var text: TerminalText = "access: \(entries.count) entries\n"
        for (index, entry) in entries.enumerated() {
            text += "    entry \(index):\n"
            text += entry
        }
        return text
    }

    private var entries: [TerminalText] {
        guard let list else { return [] }
        var entries: [TerminalText] = []
        switch list.programs {
        case .unspecified: break
        case .any: entries.append(Self.entry(Self.useOfItem, list.name, Self.everyProgram))
        case .listed(let paths): entries.append(Self.entry(Self.useOfItem, list.name, Self.programs(paths)))
        }
        if !list.partitions.isEmpty {
            let partitions = list.partitions.joined(separator: ", ")
            entries.append(Self.entry(["partition_id"], partitions, Self.everyProgram))
        }
        return entries
    }

    private static func entry(
        _ authorizations: [String], _ description: String, _ programs: TerminalText
    ) -> TerminalText {
        var text: TerminalText =
            "        authorizations (\(authorizations.count)): \(authorizations.joined(separator: " "))\n"
        text += "        don't-require-password\n"
        text += "        description: \(TerminalText(description, maxLength: nil))\n"
        text += programs
        return text
    }

    private static func programs(_ paths: [String]) -> TerminalText {
        var text: TerminalText = "        applications (\(paths.count)):\n"
        for (index, path) in paths.enumerated() {
            text += "            \(index): \(TerminalText(path, maxLength: nil))\n"
        }
        return text
    }

    private static let everyProgram: TerminalText = "        applications: <null>\n"
    /// The uses that macOS allows to the trusted programs.
    private static let useOfItem = ["decrypt", "derive", "export_clear", "export_wrapped", "mac", "sign"]
}
