// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLCrypto

/// What was fetched of late, so that it is not fetched for every verdict.
struct RevocationCache {
    typealias Outcome = Result<any RevocationEvidence, CertificateError>

    private struct Entry {
        let outcome: Outcome
        let length: Int
        let storedAt: ContinuousClock.Instant
    }

    private static let (hour, minute) = (Duration.seconds(3_600), Duration.seconds(60))
    private static let (maxCount, maxLength) = (256, 32 << 20)

    private var entries: [HTTPExchange: Entry] = [:]

    /// What was answered within the hour, or why nothing was within the minute.
    subscript(_ exchange: HTTPExchange) -> Outcome? {
        guard let entry = entries[exchange] else { return nil }
        let lifetime = if case .success = entry.outcome { Self.hour } else { Self.minute }
        return ContinuousClock.now - entry.storedAt < lifetime ? entry.outcome : nil
    }

    /// Whether the place was asked within the minute.
    func isFresh(_ exchange: HTTPExchange) -> Bool {
        entries[exchange].map { ContinuousClock.now - $0.storedAt < Self.minute } ?? false
    }

    /// - Parameter length: of the answer, in bytes.
    mutating func store(_ outcome: Outcome, _ length: Int, for exchange: HTTPExchange) {
        // Who does not answer does not take back what was said.
        if case .failure = outcome, case .success? = self[exchange] { return }
        entries[exchange] = Entry(outcome: outcome, length: length, storedAt: .now)
        while entries.count > Self.maxCount || entries.values.reduce(0, { $0 + $1.length }) > Self.maxLength {
            guard let oldest = entries.min(by: { $0.value.storedAt < $1.value.storedAt })?.key else { return }
            entries[oldest] = nil
        }
    }
}
