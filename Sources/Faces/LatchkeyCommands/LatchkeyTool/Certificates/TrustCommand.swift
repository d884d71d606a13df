// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// `latchkey trust`.
struct TrustCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: LatchkeySubcommand.trust.rawValue, abstract: LatchkeySubcommand.trust.abstract,
        discussion: """
            EXAMPLES:
              latchkey trust explain --host example.com server.pem
              latchkey trust apple-roots --dry-run AppleIncRootCertificate.cer
            """,
        subcommands: [TrustExplain.self, TrustAppleRoots.self])
}
