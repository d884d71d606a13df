// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// The rule for publicly logged certificates: they have embedded timestamps of enough logs that the caller knows (RFC
/// 6962).
///
/// The list of logs changes every few weeks, and a program must renew its own: with an old list,
/// new certificates are refused. Timestamps in the handshake and in OCSP responses are not read.
public struct CertificateTransparencyPolicy: Sendable {
    /// The logs with accepted timestamps.
    public var logs: CertificateLogList
    /// Whether a chain is refused if its leaf does not satisfy the policy. Otherwise only settings that require
    /// transparency for a host refuse it.
    public var required: Bool
    /// How many logs must have made timestamps, from 1; of two or more, at least two operators.
    public var minLogs: Int

    /// - Parameters:
    ///   - logs: the logs with accepted timestamps.
    ///   - required: whether a chain without enough timestamps is refused.
    ///   - minLogs: how many logs must have made timestamps, from 1.
    public init(logs: CertificateLogList, required: Bool = true, minLogs: Int = 2) {
        (self.logs, self.required, self.minLogs) = (logs, required, minLogs)
    }

    /// Returns the result of the policy for the timestamps of the leaf.
    ///
    /// - Parameters:
    ///   - chain: a trusted chain, leaf first.
    ///   - validationTime: seconds since 1970.
    public func result(of chain: [Certificate], at validationTime: Double) -> CertificateTransparencyResult {
        var budget = WorkBudget()
        return (try? result(of: chain, at: validationTime, &budget))
            ?? CertificateTransparencyResult(problems: ["the timestamps cost too much work"])
    }

    /// - Throws: if the budget is exhausted.
    func result(
        of chain: [Certificate], at validationTime: Double, _ budget: inout WorkBudget
    ) throws(TrustFailure) -> CertificateTransparencyResult {
        var result = CertificateTransparencyResult()
        guard let leaf = chain.first, let issuer = chain.dropFirst().first else {
            result.problems.append("a certificate without an issuer in the chain has no precertificate")
            return result
        }
        let (timestamps, precertificate): ([SignedCertificateTimestamp], [UInt8])
        do throws(CertificateError) {
            timestamps = try SignedCertificateTimestamp.embedded(in: leaf)
            precertificate = timestamps.isEmpty ? [] : try Precertificate.signedBytes(of: leaf)
        } catch {
            result.problems.append(error.description)
            return result
        }
        if timestamps.isEmpty { result.problems.append("the certificate has no timestamps of logs") }
        for timestamp in timestamps {
            guard let log = logs[timestamp.logIdentifier] else {
                result.problems.append(
                    "the log \(Hexadecimal.text(timestamp.logIdentifier.prefix(4)))… is not in the list")
                continue
            }
            if let problem = log.problem(with: timestamp, of: leaf, at: validationTime) {
                result.problems.append(problem)
                continue
            }
            guard !result.logs.contains(where: { $0.identifier == log.identifier }) else { continue }
            try budget.spend(.signatureCheck)
            let message = timestamp.signedBytes(precertificate, issuerKey: issuer.publicKey)
            if log.isSignature(timestamp, of: message) {
                result.logs.append(log)
            } else {
                result.problems.append("the timestamp of \(log.name) is not authentic, or not for this certificate")
            }
        }
        let needed = max(1, minLogs)
        result.isSatisfied =
            result.logs.count >= needed && Set(result.logs.map(\.operatorName)).count >= min(2, needed)
        return result
    }
}

/// The logs that have a certificate, as far as its timestamps show.
public struct CertificateTransparencyResult: Sendable {
    /// Whether there are enough logs of enough operators.
    public fileprivate(set) var isSatisfied = false
    /// The logs that made authentic timestamps, each once.
    public fileprivate(set) var logs: [CertificateLog] = []
    /// Why other timestamps were not accepted, one sentence each.
    public fileprivate(set) var problems: [String] = []
}

/// Checks that the leaf is publicly logged (RFC 6962).
struct TransparencyRule: ChainRule {
    let policy: CertificateTransparencyPolicy
    let validationTime: Double

    func check(_ chain: Chain, _ budget: inout WorkBudget) throws(TrustFailure) {
        let result = try policy.result(of: chain.certificates, at: validationTime, &budget)
        guard !result.isSatisfied else { return }
        let (found, needed) = (result.logs.count, max(1, policy.minLogs))
        let operators = Set(result.logs.map(\.operatorName)).count
        let reasons = result.problems.prefix(5).joined(separator: "; ")
        throw TrustFailure(
            .transparency, at: 0,
            "expected timestamps of \(needed) logs, found \(found) of \(operators) operators"
                + (reasons.isEmpty ? "" : ": \(reasons)"))
    }
}
