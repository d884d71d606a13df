// SPDX-License-Identifier: Apache-2.0

import CTrustFloor
import Foundation
import LatchkeySecurity

/// X509_verify_cert, called directly.
final class TrustFloor {
    private let chain: OpaquePointer

    init(_ chain: BenchChain) throws {
        let counts = chain.ders.map(\.count)
        let copies = chain.ders.map { der in
            let copy = UnsafeMutablePointer<UInt8>.allocate(capacity: der.count)
            copy.initialize(from: der, count: der.count)
            return copy
        }
        defer { for copy in copies { copy.deallocate() } }
        let pointers: [UnsafePointer<UInt8>?] = copies.map { UnsafePointer($0) }
        guard let made = pointers.withUnsafeBufferPointer({ floor_chain_new($0.baseAddress, counts, counts.count) })
        else {
            throw BenchmarkFailure("libcrypto cannot parse the chain")
        }
        self.chain = made
    }

    deinit { floor_chain_free(chain) }

    func isAccepted() -> Bool { floor_chain_verify(chain, BenchChain.host) == 1 }
}

/// The same evaluations through `import Security`.
final class TrustContender {
    private let certificates: [SecCertificate]
    private let anchors: CFArray
    private let policy: SecPolicy
    private let date: Date?
    private let text: Text

    /// The text of an error that is read: none, its description, or the reasons with it.
    enum Text {
        case none, description, reasons
    }

    /// - Parameters:
    ///   - host: the requested host name.
    ///   - date: the validation time; nil for the current time.
    ///   - text: the text that is read if the chain is refused.
    init(_ chain: BenchChain, host: String = BenchChain.host, date: Date? = nil, reading text: Text = .none) throws {
        policy = SecPolicyCreateSSL(true, host as NSString)
        self.date = date
        self.text = text
        let all = chain.ders.compactMap { SecCertificateCreateWithData(nil, Data($0) as NSData) }
        guard all.count == chain.ders.count, let last = all.last else {
            throw BenchmarkFailure("invalid certificate")
        }
        certificates = Array(all.dropLast())
        anchors = [last] as NSArray
    }

    func isAccepted() throws -> Bool {
        var trust: SecTrust?
        guard SecTrustCreateWithCertificates(certificates, policy, &trust) == errSecSuccess, let trust else {
            throw BenchmarkFailure("cannot create a trust object")
        }
        SecTrustSetAnchorCertificates(trust, anchors)
        if let date { SecTrustSetVerifyDate(trust, date as NSDate) }
        var error: CFError?
        guard !SecTrustEvaluateWithError(trust, &error) else { return true }
        guard let error else { throw BenchmarkFailure("a refusal without an error") }
        if text != .none, error.localizedDescription.isEmpty {
            throw BenchmarkFailure("an error without a description")
        }
        if text == .reasons, error.localizedFailureReason?.isEmpty ?? true {
            throw BenchmarkFailure("an error without a reason")
        }
        return false
    }
}
