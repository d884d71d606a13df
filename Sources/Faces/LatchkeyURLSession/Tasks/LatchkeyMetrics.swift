// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import FoundationNetworking
internal import HTTPConnections
internal import LinuxSystem

/// The times of the parts of a request, and its connections. Foundation's type for it, `URLSessionTaskMetrics`, cannot
/// be filled by a protocol.
public struct LatchkeyMetrics: Sendable {
    /// One request and its response; redirects and answers to challenges have their own.
    public struct Transaction: Sendable {
        public let url: URL?
        public let status: Int
        /// `http/1.1` or `h2`.
        public let networkProtocolName: String
        /// Such as `TLSv1.3`; nil without TLS.
        public let tlsVersion: String?
        public let isReusedConnection: Bool
        public let isProxyConnection: Bool
        public let localAddress, remoteAddress: String?
        public let domainLookupStart, domainLookupEnd: Date?
        public let connectStart, connectEnd: Date?
        public let secureConnectionStart, secureConnectionEnd: Date?
        public let requestStart, requestEnd, responseStart: Date?
    }

    public let transactions: [Transaction]
    /// The number of redirects that were followed.
    public var redirectCount: Int { transactions.count { (300..<400).contains($0.status) && $0.status != 304 } }
}

/// A delegate that receives metrics.
public protocol LatchkeyMetricsDelegate: AnyObject, Sendable {
    /// Called on the session's queue, after the body of the response was delivered, or before the
    /// task ends with an error.
    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: LatchkeyMetrics)
}

/// Collects the transactions of a load.
final class MetricsRecorder: Sendable {
    private let transactions = SystemMutex<[LatchkeyMetrics.Transaction]>([])

    var collected: LatchkeyMetrics { LatchkeyMetrics(transactions: transactions.withLock { $0 }) }

    func add(_ request: URLRequest, _ exchange: HTTPExchange) {
        let (facts, times) = (exchange.connection, exchange.times)
        let transaction = LatchkeyMetrics.Transaction(
            url: request.url, status: exchange.status, networkProtocolName: facts.protocolName,
            tlsVersion: facts.tlsVersion, isReusedConnection: facts.isReused, isProxyConnection: facts.isProxied,
            localAddress: facts.localAddress, remoteAddress: facts.remoteAddress, domainLookupStart: times.lookupStart,
            domainLookupEnd: times.lookupEnd, connectStart: times.connectStart, connectEnd: times.connectEnd,
            secureConnectionStart: times.secureStart, secureConnectionEnd: times.secureEnd,
            requestStart: times.requestStart, requestEnd: times.requestEnd, responseStart: times.responseStart)
        transactions.withLock { $0.append(transaction) }
    }
}
