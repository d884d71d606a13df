// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// `latchkey key`.
struct KeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: LatchkeySubcommand.key.rawValue, abstract: LatchkeySubcommand.key.abstract,
        discussion: """
            Private keys stay in the keychain while they are used. Algorithms have Apple's names and common ones:
            \(AlgorithmName.examples).

            EXAMPLES:
              latchkey key generate --tag com.example.key --type ec --size 256
              latchkey key sign --tag com.example.key message.txt > message.sig
              latchkey key verify --tag com.example.key --signature message.sig message.txt
              latchkey key public --tag com.example.key
            """,
        subcommands: [
            KeyGenerate.self, KeyList.self, KeySign.self, KeyVerify.self, KeyEncrypt.self, KeyDecrypt.self,
            KeyPublic.self, KeyAttest.self, KeyDelete.self,
        ])
}
