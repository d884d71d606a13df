// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Glibc
internal import KeychainModel
internal import LinuxSystem
internal import TransportPolicy

/// `latchkey ats lint`.
struct ATSLintCommand: ParsableSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "lint", abstract: "Find weak App Transport Security settings in a property list.",
        discussion: """
            Reports errors, such as unknown pins, and warnings: arbitrary loads, exceptions for http, old versions of \
            TLS and cipher suites without forward secrecy, single pins, and settings for public suffixes. Exits with \
            1 if there is an error or a warning, so that it can be a step of continuous integration. Public suffixes \
            are those of the package publicsuffix, or only well-known ones if it is not installed.

            EXAMPLES:
              latchkey ats lint Info.plist
              latchkey ats lint --allow insecure-http --allow single-pin Info.plist
              latchkey ats lint --json Info.plist | jq '.findings[].severity'
            """)

    @Flag(help: "Print JSON.")
    var json = false

    @Option(
        help: ArgumentHelp(
            "A kind of warning that is only noted, as the report names it; may be repeated.", valueName: "kind"))
    var allow: [String] = []

    @Argument(help: "An Info.plist, in XML or binary.", completion: .file())
    var file: String

    func run(in session: CommandSession) throws(CommandFailure) {
        let allowed = try allowedKinds()
        let reading: ATSReading
        do throws(TransportPolicyError) { reading = try AppTransportSecurity.reading(file: file) } catch {
            let isMissing = access(file, F_OK) != 0 && errno == ENOENT
            throw .status(KeychainError(isMissing ? .io : .decode, error.problem, hint: error.hint))
        }
        let suffixes = PublicSuffixes.system()
        let report = ATSReport(file, ATSLint(reading, suffixes).findings, allowed: allowed, suffixes.source)
        try session.write(json ? try JSONText.of(report) : report.text)
        guard report.passed else { throw .reported(1) }
    }

    private func allowedKinds() throws(CommandFailure) -> Set<ATSFinding.Kind> {
        var kinds: Set<ATSFinding.Kind> = []
        for name in allow {
            guard let kind = ATSFinding.Kind(rawValue: name) else {
                throw .parameter(
                    "unknown kind '\(name)'", hint: ATSFinding.Kind.allCases.map(\.rawValue).joined(separator: ", "))
            }
            kinds.insert(kind)
        }
        return kinds
    }
}
