// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// The JSON of a log list, as far as it is used.
struct LogListFile: Decodable {
    struct Company: Decodable {
        let name: String
        private let logs, tiledLogs: [Entry]?

        private enum CodingKeys: String, CodingKey {
            case name, logs
            case tiledLogs = "tiled_logs"
        }

        var entries: [Entry] { (logs ?? []) + (tiledLogs ?? []) }
    }

    struct Entry: Decodable {
        private struct Moment: Decodable { let timestamp: String? }

        private struct Interval: Decodable {
            let start, end: String

            private enum CodingKeys: String, CodingKey {
                case start = "start_inclusive"
                case end = "end_exclusive"
            }
        }

        private let description: String?
        private let identifier, key: String
        private let state: [String: Moment]?
        private let interval: Interval?

        private enum CodingKeys: String, CodingKey {
            case description, key, state
            case identifier = "log_id"
            case interval = "temporal_interval"
        }
    }

    let operators: [Company]
}

extension LogListFile.Entry {
    /// For messages.
    var shortName: String { String((description ?? identifier).prefix(80)) }

    /// Returns the log; nil if its timestamps do not count in its state.
    ///
    /// - Throws: if an entry cannot be read: it is left out.
    func log(of company: String) throws(CertificateError) -> CertificateLog? {
        // An entry has exactly one state. Without one, nothing is known of the log.
        guard let state, state.count == 1, let (name, moment) = state.first else {
            throw CertificateError("a log must have exactly one state")
        }
        let retirement: CertificateTime?
        switch name {
        case "usable", "qualified", "readonly": retirement = nil
        case "retired": retirement = try Self.time(moment.timestamp)
        case "pending", "rejected": return nil
        default: throw CertificateError("the state \(name.prefix(40)) is not known")
        }
        guard let bytes = Base64.bytes(key.utf8) else { throw CertificateError("the key is not Base64") }
        let expirations = try expirations()
        let log = try CertificateLog(
            key: bytes, name: shortName, operatorName: company, retirement: retirement, expirations: expirations)
        guard Base64.bytes(identifier.utf8) == log.identifier else {
            throw CertificateError("log_id is not the hash of the key")
        }
        return log
    }

    private func expirations() throws(CertificateError) -> Range<CertificateTime>? {
        guard let interval else { return nil }
        let (start, end) = (try Self.time(interval.start), try Self.time(interval.end))
        guard start < end else { throw CertificateError("the interval ends before it starts") }
        return start..<end
    }

    /// Reads a time of the form `2026-11-21T09:00:00Z`; a fraction of the second is dropped.
    private static func time(_ text: String?) throws(CertificateError) -> CertificateTime {
        let text = text ?? ""
        let (whole, fraction) = (text.prefix { $0 != "." && $0 != "Z" }, text.drop { $0 != "." })
        let numbers = whole.split(whereSeparator: { "-T:".contains($0) }).compactMap { Int($0) }
        guard text.utf8.count <= 40, text.hasSuffix("Z"), numbers.count == 6,
            fraction.dropFirst().dropLast().allSatisfy({ ("0"..."9").contains($0) }),
            let time = CertificateTime(
                year: numbers[0], month: numbers[1], day: numbers[2], hour: numbers[3], minute: numbers[4],
                second: numbers[5]), time.description == whole + "Z"
        else { throw CertificateError("a time must have the form 2026-11-21T09:00:00Z") }
        return time
    }
}
