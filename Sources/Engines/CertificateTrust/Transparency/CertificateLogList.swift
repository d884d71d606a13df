// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials

/// The logs that a program accepts, from its own list or from a file in the form that browsers
/// publish (version 3 of the log list).
public struct CertificateLogList: Sendable {
    private let byIdentifier: [[UInt8]: CertificateLog]
    /// Why entries of the file were left out, one sentence each.
    public let problems: [String]

    /// A list of the program's own. If two logs have one key, the first counts.
    public init(_ logs: [CertificateLog]) { self.init(logs, problems: []) }

    private init(_ logs: [CertificateLog], problems: [String]) {
        byIdentifier = Dictionary(logs.map { ($0.identifier, $0) }) { first, _ in first }
        self.problems = problems
    }

    /// The number of logs.
    public var count: Int { byIdentifier.count }

    /// The log with this SHA-256 of its key; nil if it is not in the list.
    public subscript(_ identifier: [UInt8]) -> CertificateLog? { byIdentifier[identifier] }

    /// The longest file in bytes, and the most logs.
    public static let (maxLength, maxLogs) = (4 << 20, 1000)

    /// Reads the JSON of a log list: `operators`, each with `name` and `logs` or `tiled_logs`, each
    /// of these with `log_id`, `key`, `state` and `temporal_interval`.
    ///
    /// Logs count in the states usable, qualified, readonly and retired; in the last one with the
    /// timestamps from before. An entry that cannot be read is left out, because a certificate then
    /// has one timestamp less, and never one more.
    ///
    /// - Throws: if the file is longer than ``maxLength``, is not such a list, or has no usable log.
    public init(json: [UInt8]) throws(CertificateError) {
        guard json.count <= Self.maxLength else {
            throw CertificateError("a list of logs has at most \(Self.maxLength) bytes, found \(json.count)")
        }
        guard let file = try? JSONDecoder().decode(LogListFile.self, from: Data(json)) else {
            throw CertificateError("the bytes are not the JSON of a list of logs")
        }
        var (logs, problems): ([CertificateLog], [String]) = ([], [])
        for company in file.operators {
            for entry in company.entries {
                guard logs.count + problems.count < Self.maxLogs else {
                    throw CertificateError("a list has at most \(Self.maxLogs) logs")
                }
                do throws(CertificateError) {
                    if let log = try entry.log(of: company.name) { logs.append(log) }
                } catch {
                    problems.append("\(entry.shortName): \(error.description)")
                }
            }
        }
        guard !logs.isEmpty else { throw CertificateError("the list has no log that can be used") }
        self.init(logs, problems: problems)
    }
}
