// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLCrypto

/// A cache of fetched revocation evidence and of failed requests.
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

    /// The evidence of the last hour, or the error of the last minute.
    subscript(_ exchange: HTTPExchange) -> Outcome? {
        guard let entry = entries[exchange] else { return nil }
        let lifetime = if case .success = entry.outcome { Self.hour } else { Self.minute }
        return ContinuousClock.now - entry.storedAt < lifetime ? entry.outcome : nil
    }

    /// Whether the request was made in the last minute.
    func isFresh(_ exchange: HTTPExchange) -> Bool {
        entries[exchange].map { ContinuousClock.now - $0.storedAt < Self.minute } ?? false
    }

    /// Stores an outcome; the oldest entries are removed if the cache is full.
    ///
    /// - Parameter length: the size of the response in bytes.
    mutating func store(_ outcome: Outcome, _ length: Int, for exchange: HTTPExchange) {
        // A failed request does not replace valid evidence.
        if case .failure = outcome, case .success? = self[exchange] { return }
        entries[exchange] = Entry(outcome: outcome, length: length, storedAt: .now)
        while entries.count > Self.maxCount || entries.values.reduce(0, { $0 + $1.length }) > Self.maxLength {
            guard let oldest = entries.min(by: { $0.value.storedAt < $1.value.storedAt })?.key else { return }
            entries[oldest] = nil
        }
    }
}
