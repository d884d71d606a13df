// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
public import Foundation
internal import LatchkeyClient
internal import LatchkeyService
import Synchronization

/// Certificates to be judged, together with the policies and anchors to judge them by.
///
/// Not made by its initialiser but by `SecTrustCreateWithCertificates`. May be used by several threads; an evaluation judges what was set when
/// it began.
///
/// ```swift
/// var trust: SecTrust?
/// SecTrustCreateWithCertificates([leaf, intermediate] as CFArray, SecPolicyCreateSSL(true, "example.com" as CFString), &trust)
/// var error: CFError?
/// guard let trust, SecTrustEvaluateWithError(trust, &error) else { throw error! }
/// ```
public final class SecTrust: NSObject, Sendable {
    /// A ``TrustBox``, whose type is not for clients to know.
    private let content: any AnyObject & Sendable

    init(_ certificates: [SecCertificate], _ policies: [SecPolicy]) {
        content = TrustBox(TrustState(certificates: certificates, policies: policies))
        super.init()
    }

    private var box: TrustBox { unsafeDowncast(content, to: TrustBox.self) }

    var state: TrustState { box.state.withLock { $0 } }

    /// Changes what is judged, or what by; the next question is answered by a new evaluation.
    func change(_ change: (inout TrustState) -> Void) {
        box.state.withLock { state in
            change(&state)
            state.verdict = nil
        }
    }

    /// The verdict of now, from a new evaluation.
    @discardableResult
    func evaluate() -> TrustVerdict {
        let evaluated = state
        let verdict = evaluated.evaluation.verdict()
        box.state.withLock { state in
            // Somebody may have changed it meanwhile.
            if state.generation == evaluated.generation { state.verdict = verdict }
        }
        return verdict
    }

    /// The verdict of the last evaluation, or of one now where there was none.
    var verdict: TrustVerdict { state.verdict ?? evaluate() }
}

/// What a `SecTrust` is about.
struct TrustState: Sendable {
    var certificates: [SecCertificate] { didSet { generation += 1 } }
    var policies: [SecPolicy] { didSet { generation += 1 } }
    /// Nil where none were set.
    var anchors: [SecCertificate]? { didSet { generation += 1 } }
    /// Nil where nothing was said: then anchors that were set are the only ones.
    var isAnchorsOnly: Bool? { didSet { generation += 1 } }
    var date: Date? { didSet { generation += 1 } }
    var exceptions: TrustExceptions? { didSet { generation += 1 } }
    var responses: [OCSPResponse] = [] { didSet { generation += 1 } }
    var mayFetch: Bool? { didSet { generation += 1 } }
    var options: TrustOptions = [] { didSet { generation += 1 } }
    /// Kept for the caller: certificate transparency is not judged.
    var certificateTimestamps: [Data] = [] { didSet { generation += 1 } }
    var verdict: TrustVerdict?
    private(set) var generation = 0

    init(certificates: [SecCertificate], policies: [SecPolicy]) {
        self.certificates = certificates
        self.policies = policies
    }

    /// Whether the network may be asked: Apple's default, which here needs a policy that asks as well.
    var mayFetchNow: Bool { mayFetch ?? true }

    /// What is judged, at the date that was set or now.
    var evaluation: TrustEvaluation {
        var evaluation = TrustEvaluation(
            certificates.map(\.body), policies: policies.map(\.policy), at: (date ?? Date()).timeIntervalSince1970)
        evaluation.anchors = (anchors ?? []).map(\.body)
        evaluation.isAnchorsOnly = isAnchorsOnly ?? (anchors != nil)
        evaluation.exceptions = exceptions
        evaluation.options = options
        evaluation.revocation.responses = responses
        evaluation.issuers = KeychainCertificates.issuers
        evaluation.fetcher = mayFetchNow ? .shared : nil
        evaluation.take(TrustSettingsDomains(user: try? KeychainClient.home().dataDirectory))
        return evaluation
    }
}

/// Carries a ``TrustState`` behind a type that clients may know.
private final class TrustBox: Sendable {
    let state: Mutex<TrustState>
    init(_ state: TrustState) { self.state = Mutex(state) }
}

extension SecTrust: CoreFoundationType {
    static var typeID: CFTypeID { TypeIdentifier.trust.rawValue }
}

/// What `CFGetTypeID` gives for a `SecTrust`.
@discardableResult
public func SecTrustGetTypeID() -> CFTypeID {
    SecTrust.typeID
}
