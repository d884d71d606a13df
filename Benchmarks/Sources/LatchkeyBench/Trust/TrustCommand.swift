// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import LatchkeySecurity

/// Compares the evaluation of certificates with X509_verify_cert, alternately in one process.
struct TrustCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trust", abstract: "Compare the evaluation of certificates with X509_verify_cert.",
        discussion: """
            Exits with 0 even if an aim is missed, and with 1 if an operation fails.

            EXAMPLE:
              valgrind --tool=callgrind --toggle-collect='*markedCall*' latchkey-bench trust --calls 100 --call floor
            """)

    @Option(help: "The number of rounds; each round measures every contender.")
    var rounds = 15

    @Option(help: ArgumentHelp("Only evaluates an RSA chain this number of times, for callgrind.", valueName: "count"))
    var calls: Int?

    @Option(
        help: ArgumentHelp(
            "With --calls: \(TrustCall.allCases.map(\.rawValue).joined(separator: ", ")).", valueName: "call"))
    var call = TrustCall.accepted

    func run() throws {
        if let calls { return try call.make(calls) }
        // Measured first, because the anchors are cached after they are read.
        var anchors: CFArray?
        let cold = Self.time { SecTrustCopyAnchorCertificates(&anchors) }
        var table = TextTable(rows: [["median in µs", "libcrypto", "Latchkey", "ratio", "aim"]])
        for (name, isCurve) in [("ECDSA P-256", true), ("RSA-2048", false)] {
            let chain = try BenchChain.ofThree(isCurve: isCurve)
            let (floor, contender) = (try TrustFloor(chain), try TrustContender(chain))
            try table.rows.append(
                row("\(name), 3 certificates: verify", aim: 1.0, accepts: true, floor.isAccepted, contender.isAccepted))
            try table.rows.append(
                row(
                    "\(name), 3 certificates: parse and verify", aim: 0.5, accepts: true,
                    { try TrustFloor(chain).isAccepted() }
                ) {
                    try TrustContender(chain).isAccepted()
                })
        }
        let nowhere = try BenchChain.withoutAnchor()
        try table.rows.append(
            row(
                "\(nowhere.ders.count - 2) cross-signed without an anchor: parse and verify", aim: nil, accepts: false,
                { try TrustFloor(nowhere).isAccepted() }
            ) { try TrustContender(nowhere).isAccepted() })
        print(table.text)
        try printRefusals()
        print(
            "system anchors, cold: \(anchors?.count ?? 0) in \(String(format: "%.1f", cold / 1000)) ms (aim: at most 20)"
        )
    }

    /// Compares rejections with acceptances of the same certificates. Each is evaluated again; of its
    /// error, only the code is read unless the row says otherwise.
    private func printRefusals() throws {
        var table = TextTable(rows: [["median in µs", "accepted", "refused", "ratio", "aim"]])
        for (name, isCurve) in [("ECDSA P-256", true), ("RSA-2048", false)] {
            let chain = try BenchChain.ofThree(isCurve: isCurve)
            let stranger = try BenchChain.ofThree(isCurve: isCurve, root: "another root")
            let accepted = try TrustContender(chain)
            let refused = [
                ("host name mismatch", try TrustContender(chain, host: "example.org")),
                ("expired", try TrustContender(chain, date: Date(timeIntervalSinceNow: 365 * 86_400))),
                ("unknown issuer", try TrustContender(chain.anchored(by: stranger))),
                ("invalid signature of the leaf", try TrustContender(chain.withInvalidSignature(at: 0))),
                ("invalid signature of the intermediate", try TrustContender(chain.withInvalidSignature(at: 1))),
                ("the same, description", try TrustContender(chain.withInvalidSignature(at: 1), reading: .description)),
                ("the same, all reasons", try TrustContender(chain.withInvalidSignature(at: 1), reading: .reasons)),
            ]
            for (reason, contender) in refused {
                try table.rows.append(
                    row("\(name), 3 certificates: \(reason)", aim: 1.0, accepts: true, accepted.isAccepted) {
                        try !contender.isAccepted()
                    })
            }
        }
        print(table.text)
    }

    private func row(
        _ name: String, aim: Double?, accepts: Bool, _ floor: () throws -> Bool, _ contender: () throws -> Bool
    ) throws -> [String] {
        ProgressLine.say(name)
        var (one, other): ([Double], [Double]) = ([], [])
        for _ in 0..<rounds {
            one.append(try median(accepts, floor))
            other.append(try median(accepts, contender))
        }
        let (low, high) = (one.sorted()[rounds / 2], other.sorted()[rounds / 2])
        let ratio = String(format: "%.2f", high / low)
        return [
            name, String(format: "%.1f", low), String(format: "%.1f", high), ratio,
            aim.map { String(format: "%.1f", $0) } ?? "20 ms",
        ]
    }

    private func median(_ accepts: Bool, _ body: () throws -> Bool) throws -> Double {
        var times: [Double] = []
        for _ in 0..<(accepts ? 50 : 3) {
            var result: Result<Bool, any Error> = .success(!accepts)
            times.append(Self.time { result = Result { try body() } })
            guard try result.get() == accepts else { throw BenchmarkFailure("unexpected verdict") }
        }
        return times.sorted()[times.count / 2]
    }

    /// Returns the time in microseconds.
    private static func time(_ body: () -> Void) -> Double {
        let duration = ContinuousClock().measure(body)
        return Double(duration.components.attoseconds) / 1e12 + Double(duration.components.seconds) * 1e6
    }
}
