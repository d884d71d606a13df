// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import LinuxSystem
public import OpenSSLCrypto
internal import Synchronization

/// Asks the places that certificates name whether they are revoked.
///
/// Every certificate is asked about on a thread of its own, and nobody waits longer than was said, whatever servers do. What they say is kept for
/// an hour, and that they do not answer for a minute.
public final class RevocationFetcher: Sendable {
    /// Asks one place; as ``HTTPExchange/answer(limit:seconds:)``.
    public typealias Transport = @Sendable (HTTPExchange, _ limit: Int, _ seconds: Int) throws(OpenSSLError) -> [UInt8]

    /// A certificate of a chain, and whose it is.
    struct Link: Sendable {
        let certificate: Certificate
        let issuer: Certificate
    }

    public static let shared = RevocationFetcher(transport: byHTTP)

    static let byHTTP: Transport = { (exchange, limit, seconds) throws(OpenSSLError) in
        try exchange.answer(limit: limit, seconds: seconds)
    }

    /// How long one verdict waits for all places together, in seconds.
    let patience: Int
    private let patienceForOne: Int
    private let transport: Transport
    private let kept = Mutex(RevocationCache())
    /// How many threads ask, also those for which nobody waits any more.
    private let running = Mutex(0)
    private static let greatestRunning = 64

    /// - Parameters:
    ///   - patience: how long one verdict waits for all places together, in seconds.
    ///   - patienceForOne: how long one of them may take to be reached, and as long again to answer.
    public init(patience: Int = 10, patienceForOne: Int = 3, transport: @escaping Transport) {
        (self.patience, self.patienceForOne, self.transport) = (patience, patienceForOne, transport)
    }

    /// What the places say of these certificates; returns by the deadline with what there is then.
    func information(
        about links: [Link], _ options: RevocationOptions, at moment: Double, until deadline: DispatchTime
    ) -> RevocationInformation {
        let (group, found) = (DispatchGroup(), Found())
        for link in links {
            group.enter()
            let isRunning = running.withLock { running in
                guard running < Self.greatestRunning else { return false }
                let isRunning = BackgroundThread.run { [self] in
                    let information = ask(about: link, options, at: moment, until: deadline)
                    found.information.withLock { $0 = $0.adding(information) }
                    self.running.withLock { $0 -= 1 }
                    group.leave()
                }
                if isRunning { running += 1 }
                return isRunning
            }
            guard !isRunning else { continue }
            found.information.withLock { $0.complaints.append("too many places are being asked") }
            group.leave()
        }
        let isComplete = group.wait(timeout: deadline) == .success
        return found.information.withLock { information in
            if !isComplete { information.complaints.append("those who were asked have not answered in \(patience) seconds") }
            return information
        }
    }

    /// What the threads have found; those that come too late put it where nobody looks.
    private final class Found: Sendable {
        let information = Mutex(RevocationInformation())
    }

    /// Asks one place after the other, until one says something that counts.
    private func ask(
        about link: Link, _ options: RevocationOptions, at moment: Double, until deadline: DispatchTime
    ) -> RevocationInformation {
        var information = RevocationInformation()
        for question in RevocationQuestion.all(about: link.certificate, of: link.issuer, options) {
            do throws(CertificateError) {
                let statement = try answer(to: question, link, at: moment, until: deadline)
                information.add(statement)
                if statement.status(of: link, at: moment).isKnown { break }
            } catch {
                information.complaints.append(error.description)
            }
        }
        return information
    }

    private func answer(
        to question: RevocationQuestion, _ link: Link, at moment: Double, until deadline: DispatchTime
    ) throws(CertificateError) -> any RevocationStatement {
        let exchange = question.exchange
        if let entry = kept.withLock({ $0[exchange] }) {
            let statement = try entry.get()
            if statement.status(of: link, at: moment).isKnown || kept.withLock({ $0.isFresh(exchange) }) { return statement }
        }
        let seconds = min(patienceForOne, deadline.secondsLeft)
        guard seconds > 0 else { throw CertificateError("there is no time left to ask \(question.place)") }
        let outcome = fetch(question, exchange, seconds)
        kept.withLock { $0.keep(outcome.statement, outcome.length, for: exchange) }
        return try outcome.statement.get()
    }

    private func fetch(
        _ question: RevocationQuestion, _ exchange: HTTPExchange, _ seconds: Int
    ) -> (statement: RevocationCache.Outcome, length: Int) {
        let bytes: [UInt8]
        do throws(OpenSSLError) { bytes = try transport(exchange, question.greatestLength, seconds) } catch {
            return (.failure(CertificateError(error.message)), 0)
        }
        do throws(CertificateError) { return (.success(try question.statement(bytes)), bytes.count) } catch {
            return (.failure(CertificateError("the answer of \(question.place): \(error)")), 0)
        }
    }
}

extension RevocationStatement {
    fileprivate func status(of link: RevocationFetcher.Link, at moment: Double) -> RevocationStatus {
        status(of: link.certificate, issuer: link.issuer, at: moment)
    }
}

extension RevocationStatus {
    fileprivate var isKnown: Bool { if case .unknown = self { false } else { true } }
}

extension RevocationInformation {
    fileprivate mutating func add(_ statement: any RevocationStatement) {
        if let list = statement as? CertificateRevocationList { lists.append(list) }
        if let response = statement as? OCSPResponse { responses.append(response) }
    }
}

extension DispatchTime {
    /// Whole seconds until then; 0 where less than one is left.
    fileprivate var secondsLeft: Int {
        let now = DispatchTime.now().uptimeNanoseconds
        return uptimeNanoseconds > now ? Int(clamping: (uptimeNanoseconds - now) / 1_000_000_000) : 0
    }
}
