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
    struct CertificateAndIssuer: Sendable {
        let certificate: Certificate
        let issuer: Certificate
    }

    public static let shared = RevocationFetcher(transport: httpTransport)

    static let httpTransport: Transport = { (exchange, limit, seconds) throws(OpenSSLError) in
        try exchange.answer(limit: limit, seconds: seconds)
    }

    /// How long one verdict waits for all places together, in seconds.
    let timeout: Int
    private let requestTimeout: Int
    private let transport: Transport
    private let cache = Mutex(RevocationCache())
    /// How many threads ask, also those for which nobody waits any more.
    private let running = Mutex(0)
    private static let maxConcurrent = 64

    /// - Parameters:
    ///   - timeout: how long one verdict waits for all places together, in seconds.
    ///   - requestTimeout: how long one of them may take to be reached, and as long again to answer.
    public init(timeout: Int = 10, requestTimeout: Int = 3, transport: @escaping Transport) {
        (self.timeout, self.requestTimeout, self.transport) = (timeout, requestTimeout, transport)
    }

    /// What the places say of these certificates; returns by the deadline with what there is then.
    func information(
        about links: [CertificateAndIssuer], _ options: RevocationOptions, at validationTime: Double,
        until deadline: DispatchTime
    ) -> RevocationInformation {
        let (group, collected) = (DispatchGroup(), CollectedInformation())
        for link in links {
            group.enter()
            let isRunning = running.withLock { running in
                guard running < Self.maxConcurrent else { return false }
                let isRunning = BackgroundThread.run { [self] in
                    let information = ask(about: link, options, at: validationTime, until: deadline)
                    collected.information.withLock { $0 = $0.adding(information) }
                    self.running.withLock { $0 -= 1 }
                    group.leave()
                }
                if isRunning { running += 1 }
                return isRunning
            }
            guard !isRunning else { continue }
            collected.information.withLock { $0.errors.append("too many places are being asked") }
            group.leave()
        }
        let isComplete = group.wait(timeout: deadline) == .success
        return collected.information.withLock { information in
            if !isComplete { information.errors.append("those who were asked have not answered in \(timeout) seconds") }
            return information
        }
    }

    /// What the threads have found; those that come too late put it where nobody looks.
    private final class CollectedInformation: Sendable {
        let information = Mutex(RevocationInformation())
    }

    /// Asks one place after the other, until one says something that counts.
    private func ask(
        about link: CertificateAndIssuer, _ options: RevocationOptions, at validationTime: Double,
        until deadline: DispatchTime
    ) -> RevocationInformation {
        var information = RevocationInformation()
        for request in RevocationRequest.all(about: link.certificate, of: link.issuer, options) {
            do throws(CertificateError) {
                let statement = try answer(to: request, link, at: validationTime, until: deadline)
                information.add(statement)
                if statement.status(of: link, at: validationTime).isKnown { break }
            } catch {
                information.errors.append(error.description)
            }
        }
        return information
    }

    private func answer(
        to request: RevocationRequest, _ link: CertificateAndIssuer, at validationTime: Double,
        until deadline: DispatchTime
    ) throws(CertificateError) -> any RevocationEvidence {
        let exchange = request.exchange
        if let entry = cache.withLock({ $0[exchange] }) {
            let statement = try entry.get()
            if statement.status(of: link, at: validationTime).isKnown || cache.withLock({ $0.isFresh(exchange) }) {
                return statement
            }
        }
        let seconds = min(requestTimeout, deadline.secondsLeft)
        guard seconds > 0 else { throw CertificateError("there is no time left to ask \(request.url)") }
        let outcome = fetch(request, exchange, seconds)
        cache.withLock { $0.store(outcome.statement, outcome.length, for: exchange) }
        return try outcome.statement.get()
    }

    private func fetch(
        _ request: RevocationRequest, _ exchange: HTTPExchange, _ seconds: Int
    ) -> (statement: RevocationCache.Outcome, length: Int) {
        let bytes: [UInt8]
        do throws(OpenSSLError) { bytes = try transport(exchange, request.maxLength, seconds) } catch {
            return (.failure(CertificateError(error.message)), 0)
        }
        do throws(CertificateError) { return (.success(try request.statement(bytes)), bytes.count) } catch {
            return (.failure(CertificateError("the answer of \(request.url): \(error)")), 0)
        }
    }
}

extension RevocationEvidence {
    fileprivate func status(of link: RevocationFetcher.CertificateAndIssuer, at validationTime: Double)
        -> RevocationStatus
    {
        status(of: link.certificate, issuer: link.issuer, at: validationTime)
    }
}

extension RevocationStatus {
    fileprivate var isKnown: Bool { if case .unknown = self { false } else { true } }
}

extension RevocationInformation {
    fileprivate mutating func add(_ statement: any RevocationEvidence) {
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
