// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
public import Foundation
internal import LatchkeyClient
internal import LatchkeyService
internal import LinuxSystem
import Synchronization

/// Certificates to evaluate, together with the policies and anchors of the evaluation.
///
/// Trust objects are created by `SecTrustCreateWithCertificates`, not with an initializer. Several
/// threads may use a trust object; an evaluation uses the state at its start.
///
/// ```swift
/// var trust: SecTrust?
/// let policy = SecPolicyCreateSSL(true, "example.com" as CFString)
/// SecTrustCreateWithCertificates([leaf, intermediate] as CFArray, policy, &trust)
/// var error: CFError?
/// guard let trust, SecTrustEvaluateWithError(trust, &error) else { throw error! }
/// ```
public final class SecTrust: NSObject, Sendable {
    /// A ``TrustBox``, in a form that hides its type from clients.
    private let content: any AnyObject & Sendable

    init(_ certificates: [SecCertificate], _ policies: [SecPolicy]) {
        content = TrustBox(TrustState(certificates: certificates, policies: policies))
        super.init()
    }

    private var box: TrustBox { unsafeDowncast(content, to: TrustBox.self) }

    var state: TrustState { box.state.withLock { $0 } }

    /// Changes the certificates or the parameters; the next access to the result starts a new
    /// evaluation.
    func change(_ change: (inout TrustState) -> Void) {
        box.state.withLock { state in
            change(&state)
            state.verdict = nil
        }
    }

    /// Returns the verdict of a new evaluation.
    @discardableResult
    func evaluate() -> TrustVerdict {
        let evaluated = state
        let verdict = evaluated.evaluation.verdict()
        box.state.withLock { state in
            // Another thread may have changed the state meanwhile.
            if state.generation == evaluated.generation { state.verdict = verdict }
        }
        return verdict
    }

    /// Returns the verdict of a new evaluation for the program, with a warning if it does not check the server's name.
    func evaluateForProgram() -> TrustVerdict {
        let acceptsAnyServer = box.state.withLock { state in
            state.isEvaluatedByProgram = true
            return state.acceptsAnyServer
        }
        if acceptsAnyServer { ProgramLog.current.warn(.serverNameNotChecked) }
        return evaluate()
    }

    /// Takes the result of an evaluation with the same certificates and parameters.
    func keep(_ verdict: TrustVerdict) { box.state.withLock { $0.verdict = verdict } }

    /// The verdict of the last evaluation, or of a new one if there was none.
    var verdict: TrustVerdict { state.verdict ?? evaluate() }
}

/// The state of a `SecTrust`.
struct TrustState: Sendable {
    var certificates: [SecCertificate] { didSet { generation += 1 } }
    var policies: [SecPolicy] { didSet { generation += 1 } }
    /// Nil if no anchors were set.
    var anchors: [SecCertificate]? { didSet { generation += 1 } }
    /// Nil if not set; then anchors that were set are the only ones.
    var isAnchorsOnly: Bool? { didSet { generation += 1 } }
    var date: Date? { didSet { generation += 1 } }
    var exceptions: TrustExceptions? { didSet { generation += 1 } }
    var responses: [OCSPResponse] = [] { didSet { generation += 1 } }
    var mayFetch: Bool? { didSet { generation += 1 } }
    var options: TrustOptions = [] { didSet { generation += 1 } }
    /// Nil for the system's own.
    var systemAnchors: SystemAnchors? { didSet { generation += 1 } }
    /// Whether neither the trust settings nor the certificates of the keychain are used.
    var isIsolated = false { didSet { generation += 1 } }
    /// Stored for the caller: certificate transparency is not evaluated.
    var certificateTimestamps: [Data] = [] { didSet { generation += 1 } }
    var verdict: TrustVerdict?
    /// Whether a server sent the certificates.
    var isServed = false
    /// Whether the program has evaluated the trust object.
    var isEvaluatedByProgram = false
    private(set) var generation = 0

    init(certificates: [SecCertificate], policies: [SecPolicy]) {
        self.certificates = certificates
        self.policies = policies
    }

    /// Whether the network may be used. Allowed by default, as with Apple, but used here only if a
    /// policy requests it.
    var mayFetchNow: Bool { mayFetch ?? true }

    /// Whether this is the certificate of a server, and the policies accept that of any server.
    var acceptsAnyServer: Bool {
        let usages = certificates.first?.body.extensions.extendedKeyUsages ?? []
        guard isServed || usages.contains(.serverAuthentication) else { return false }
        return policies.allSatisfy {
            switch $0.policy {
            case .basicX509, .revocation, .server(nil): true
            default: false
            }
        }
    }

    /// The evaluation of the current state, for the date that was set or the current time.
    var evaluation: TrustEvaluation {
        var evaluation = TrustEvaluation(
            certificates.map(\.body), policies: policies.map(\.policy), at: (date ?? Date()).timeIntervalSince1970)
        evaluation.anchors = (anchors ?? []).map(\.body)
        evaluation.isAnchorsOnly = isAnchorsOnly ?? (anchors != nil)
        evaluation.exceptions = exceptions
        evaluation.options = options
        evaluation.revocation.responses = responses
        evaluation.fetcher = mayFetchNow ? .shared : nil
        if let systemAnchors { evaluation.systemAnchors = systemAnchors }
        if !isIsolated {
            evaluation.issuers = KeychainCertificates.issuers
            evaluation.take(TrustSettingsDomains(user: try? KeychainClient.home().dataDirectory))
        }
        return evaluation
    }
}

/// Holds a ``TrustState``, because the public type cannot name it.
private final class TrustBox: Sendable {
    let state: SystemMutex<TrustState>
    init(_ state: TrustState) { self.state = SystemMutex(state) }
}

extension SecTrust: CoreFoundationType {
    static var typeID: CFTypeID { TypeIdentifier.trust.rawValue }
}

/// Returns the type identifier of `SecTrust`, for comparison with `CFGetTypeID`.
@discardableResult
public func SecTrustGetTypeID() -> CFTypeID {
    SecTrust.typeID
}
