// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLCrypto

/// What was fetched of late, so that it is not fetched for every verdict.
struct RevocationCache {
    typealias Outcome = Result<any RevocationStatement, CertificateError>

    private struct Entry {
        let outcome: Outcome
        let length: Int
        let moment: ContinuousClock.Instant
    }

    private static let (hour, minute) = (Duration.seconds(3_600), Duration.seconds(60))
    private static let (greatestNumber, greatestLength) = (256, 32 << 20)

    private var entries: [HTTPExchange: Entry] = [:]

    /// What was answered within the hour, or why nothing was within the minute.
    subscript(_ exchange: HTTPExchange) -> Outcome? {
        guard let entry = entries[exchange] else { return nil }
        let patience = if case .success = entry.outcome { Self.hour } else { Self.minute }
        return ContinuousClock.now - entry.moment < patience ? entry.outcome : nil
    }

    /// Whether the place was asked within the minute.
    func isFresh(_ exchange: HTTPExchange) -> Bool {
        entries[exchange].map { ContinuousClock.now - $0.moment < Self.minute } ?? false
    }

    /// - Parameter length: of the answer, in bytes.
    mutating func keep(_ outcome: Outcome, _ length: Int, for exchange: HTTPExchange) {
        // Who does not answer does not take back what was said.
        if case .failure = outcome, case .success? = self[exchange] { return }
        entries[exchange] = Entry(outcome: outcome, length: length, moment: .now)
        while entries.count > Self.greatestNumber || entries.values.reduce(0, { $0 + $1.length }) > Self.greatestLength {
            guard let oldest = entries.min(by: { $0.value.moment < $1.value.moment })?.key else { return }
            entries[oldest] = nil
        }
    }
}
