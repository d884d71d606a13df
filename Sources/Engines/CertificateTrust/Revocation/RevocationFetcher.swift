// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import LinuxSystem
public import OpenSSLCrypto

/// Fetches OCSP responses and CRLs from the locations that certificates name.
///
/// Requests for different certificates run on different threads. A caller waits at most ``timeout`` seconds,
/// independently of the servers. Evidence is cached for an hour, an error for a minute.
public final class RevocationFetcher: Sendable {
    /// Makes one request; like ``HTTPExchange/answer(limit:seconds:)``.
    public typealias Transport = @Sendable (HTTPExchange, _ limit: Int, _ seconds: Int) throws(OpenSSLError) -> [UInt8]

    /// A certificate of a chain and its issuer.
    struct CertificateAndIssuer: Sendable {
        let certificate: Certificate
        let issuer: Certificate
    }

    public static let shared = RevocationFetcher(transport: httpTransport)

    static let httpTransport: Transport = { (exchange, limit, seconds) throws(OpenSSLError) in
        try exchange.answer(limit: limit, seconds: seconds)
    }

    /// The timeout for all requests of one verdict together, in seconds.
    let timeout: Int
    private let requestTimeout: Int
    private let transport: Transport
    private let cache = SystemMutex(RevocationCache())
    /// The number of threads with requests, including those without a waiting caller.
    private let running = SystemMutex(0)
    private static let maxConcurrent = 64

    /// - Parameters:
    ///   - timeout: the timeout for all requests of one verdict together, in seconds.
    ///   - requestTimeout: the timeout to connect to one server, and again to receive its response,
    ///     in seconds.
    public init(timeout: Int = 10, requestTimeout: Int = 3, transport: @escaping Transport) {
        (self.timeout, self.requestTimeout, self.transport) = (timeout, requestTimeout, transport)
    }

    /// Fetches the evidence for these certificates; returns the part that has arrived by the deadline.
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
                    let information = fetchEvidence(about: link, options, at: validationTime, until: deadline)
                    collected.information.withLock { $0 = $0.adding(information) }
                    self.running.withLock { $0 -= 1 }
                    group.leave()
                }
                if isRunning { running += 1 }
                return isRunning
            }
            guard !isRunning else { continue }
            collected.information.withLock { $0.errors.append("too many revocation requests are running") }
            group.leave()
        }
        let isComplete = group.wait(timeout: deadline) == .success
        return collected.information.withLock { information in
            if !isComplete { information.errors.append("revocation requests timed out after \(timeout) seconds") }
            return information
        }
    }

    /// The evidence from all threads. Evidence after the deadline is added to it, but no longer
    /// read.
    private final class CollectedInformation: Sendable {
        let information = SystemMutex(RevocationInformation())
    }

    /// Makes one request after the other until one yields a status.
    private func fetchEvidence(
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
        guard seconds > 0 else { throw CertificateError("no time left to fetch \(request.url)") }
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
            return (.failure(CertificateError("response of \(request.url): \(error)")), 0)
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
    /// The whole seconds until this time; 0 if less than one is left.
    fileprivate var secondsLeft: Int {
        let now = DispatchTime.now().uptimeNanoseconds
        return uptimeNanoseconds > now ? Int(clamping: (uptimeNanoseconds - now) / 1_000_000_000) : 0
    }
}
