// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// `latchkey security-key`.
struct SecurityKeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: LatchkeySubcommand.securityKey.rawValue, abstract: LatchkeySubcommand.securityKey.abstract,
        discussion: """
            Items with the access control securityKey open only after a touch of an enrolled FIDO2 security key \
            that supports hmac-secret. A key with a PIN requires it each time. Enroll a second key: without any of \
            them, items that only they open are lost.

            EXAMPLES:
              latchkey security-key enroll blue
              latchkey security-key list
              security add-generic-password -s bank -a me --access-control securityKey -w
            """,
        subcommands: [SecurityKeyEnroll.self, SecurityKeyList.self, SecurityKeyRemove.self])
}
