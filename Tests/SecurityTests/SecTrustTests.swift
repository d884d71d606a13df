// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import LatchkeyService
import Security
import Synchronization
import Testing

/// Trust evaluation as programs use it: policies, anchors, dates, exceptions, and errors with
/// Apple's codes.
@Suite("SecTrust")
struct SecTrustTests {
    private static let authority = Result { try OpenSSLAuthority() }

    private let root: SecCertificate
    private let intermediate: SecCertificate
    private let leaf: SecCertificate
    private let issued: OpenSSLAuthority.IssuedCertificate
    private let authority: OpenSSLAuthority

    init() throws {
        authority = try Self.authority.get()
        func certificate(_ issued: OpenSSLAuthority.IssuedCertificate) throws -> SecCertificate {
            try #require(SecCertificateCreateWithData(nil, issued.der as CFData))
        }
        root = try certificate(authority.root)
        intermediate = try certificate(authority.intermediate)
        issued = try Self.server.get()
        leaf = try certificate(issued)
    }

    private static let server = Result { try authority.get().server("example.com") }

    private func trust(
        _ certificates: [SecCertificate], host: String? = "example.com", anchors: [SecCertificate]? = nil
    ) throws -> SecTrust {
        var trust: SecTrust?
        #expect(
            SecTrustCreateWithCertificates(certificates as CFArray, SecPolicyCreateSSL(true, host as CFString?), &trust)
                == errSecSuccess)
        let made = try #require(trust)
        if let anchors { #expect(SecTrustSetAnchorCertificates(made, anchors as CFArray) == errSecSuccess) }
        return made
    }

    /// Returns Apple's code for the failure; nil if the certificate is trusted.
    private func refusal(_ trust: SecTrust) -> OSStatus? {
        var error: CFError?
        guard !SecTrustEvaluateWithError(trust, &error) else {
            #expect(error == nil)
            return nil
        }
        #expect(error?.domain == NSOSStatusErrorDomain && error?.localizedDescription.isEmpty == false)
        return error.map { OSStatus($0.code) }
    }

    private func certificate(_ issued: OpenSSLAuthority.IssuedCertificate) throws -> SecCertificate {
        try #require(SecCertificateCreateWithData(nil, issued.der as CFData))
    }

    @Test("A server is trusted for its own name, with a chain to an anchor")
    func accepted() throws {
        let trust = try trust([leaf, intermediate], anchors: [root])
        var result = SecTrustResultType.proceed
        #expect(SecTrustGetTrustResult(trust, &result) == errSecSuccess && result == .invalid)
        #expect(SecTrustCopyResult(trust) == nil)
        #expect(refusal(trust) == nil)
        #expect(SecTrustGetTrustResult(trust, &result) == errSecSuccess && result == .unspecified)
        #expect(SecTrustCopyCertificateChain(trust) as? [SecCertificate] == [leaf, intermediate, root])
        #expect(SecTrustGetCertificateCount(trust) == 3)
        #expect(SecTrustCopyKey(trust) == SecCertificateCopyKey(leaf))
        let told = try #require(SecTrustCopyResult(trust))
        #expect(told[kSecTrustResultValue] as? Int == Int(SecTrustResultType.unspecified.rawValue))
        #expect(abs((told[kSecTrustEvaluationDate] as? Date ?? .distantPast).timeIntervalSinceNow) < 60)
        // The order after the first certificate, and unrelated certificates, do not matter.
        #expect(refusal(try self.trust([leaf, root, leaf, intermediate], anchors: [root])) == nil)
        // A trusted intermediate is sufficient.
        #expect(refusal(try self.trust([leaf], anchors: [intermediate])) == nil)
        // So is the certificate itself.
        #expect(refusal(try self.trust([leaf], anchors: [leaf])) == nil)
    }

    @Test("Each failure has Apple's code, the expected and the found value")
    func refused() throws {
        #expect(
            refusal(try trust([leaf, intermediate], host: "example.org", anchors: [root])) == errSecHostNameMismatch)
        #expect(refusal(try trust([leaf, intermediate])) == errSecNotTrusted)
        #expect(refusal(try trust([leaf], anchors: [root])) == errSecNotTrusted)
        #expect(refusal(try trust([leaf, intermediate], anchors: [])) == errSecNotTrusted)
        let expired = try certificate(authority.server("old.example.com", days: -1))
        let old = try trust([expired, intermediate], host: "old.example.com", anchors: [root])
        #expect(refusal(old) == errSecCertificateExpired)
        var error: CFError?
        #expect(!SecTrustEvaluateWithError(old, &error))
        #expect(error?.localizedDescription.hasPrefix("the certificate of old.example.com: expired at ") == true)
        let selfSigned = try certificate(
            authority.issue("/CN=example.com", OpenSSLAuthority.server("DNS:example.com"), by: nil))
        #expect(refusal(try trust([selfSigned], anchors: [root])) == errSecNotTrusted)
        #expect(refusal(try trust([selfSigned], anchors: [selfSigned])) == nil)
        let client = OpenSSLAuthority.server("DNS:example.com").replacingOccurrences(
            of: "serverAuth", with: "clientAuth")
        let wrongUse = try certificate(authority.issue("/CN=example.com", client, by: authority.intermediate))
        #expect(refusal(try trust([wrongUse, intermediate], anchors: [root])) == errSecInvalidExtendedKeyUsage)
        let long = try certificate(authority.server("example.com", days: 900))
        #expect(refusal(try trust([long, intermediate], anchors: [root])) == errSecCertificateValidityPeriodTooLong)
        // Issued by a certificate that is not a CA certificate.
        let below = try certificate(
            authority.issue("/CN=example.com", OpenSSLAuthority.server("DNS:example.com"), by: issued))
        #expect(refusal(try trust([below, leaf, intermediate], anchors: [root])) == errSecNoBasicConstraintsCA)
    }

    @Test("A leaf without an authority key identifier is trusted under the program's own anchor, with each policy")
    func withoutKeyIdentifier() throws {
        let extensions = OpenSSLAuthority.server("DNS:example.com")
            .replacingOccurrences(of: "authorityKeyIdentifier=keyid\n", with: "authorityKeyIdentifier=none\n")
        let bare = try certificate(authority.issue("/CN=example.com", extensions, by: authority.intermediate))
        for policy in [SecPolicyCreateBasicX509(), SecPolicyCreateSSL(true, "example.com" as CFString)] {
            var made: SecTrust?
            let certificates = [bare, intermediate] as CFArray
            #expect(SecTrustCreateWithCertificates(certificates, policy, &made) == errSecSuccess)
            let trust = try #require(made)
            #expect(SecTrustSetAnchorCertificates(trust, [root] as CFArray) == errSecSuccess)
            #expect(refusal(trust) == nil)
            #expect(SecTrustCopyCertificateChain(trust) as? [SecCertificate] == [bare, intermediate, root])
        }
    }

    @Test("The chain of a refused certificate contains the anchor that it leads to")
    func refusedChain() throws {
        func chain(_ trust: SecTrust) -> [SecCertificate]? {
            #expect(refusal(trust) != nil)
            return SecTrustCopyCertificateChain(trust) as? [SecCertificate]
        }
        #expect(
            chain(try trust([leaf, intermediate], host: "example.org", anchors: [root])) == [leaf, intermediate, root])
        let expired = try certificate(authority.server("example.com", days: -1))
        #expect(chain(try trust([expired, intermediate], anchors: [root])) == [expired, intermediate, root])
        // An issuer that is not a CA.
        let below = try certificate(
            authority.issue("/CN=example.com", OpenSSLAuthority.server("DNS:example.com"), by: issued))
        #expect(chain(try trust([below, leaf, intermediate], anchors: [root])) == [below, leaf, intermediate, root])
    }

    @Test("An error composes all explanations when they are read, and its archive holds them")
    func sentences() throws {
        let trust = try trust([leaf, intermediate], host: "example.org")
        var found: CFError?
        #expect(!SecTrustEvaluateWithError(trust, &found))
        let error = try #require(found)
        #expect(error.code == Int(errSecNotTrusted))
        #expect(error.localizedDescription.contains("issuer not found or not trusted"))
        let reason = try #require(error.localizedFailureReason)
        #expect(reason.hasPrefix(error.localizedDescription) && reason.contains("not for example.org"))
        #expect(error.userInfo[NSLocalizedDescriptionKey] as? String == error.localizedDescription)
        #expect((error as any Error).localizedDescription == error.localizedDescription)
        #expect(error.isEqual(NSError(domain: NSOSStatusErrorDomain, code: error.code, userInfo: error.userInfo)))
        let archive = ArchiveKeys()
        error.encode(with: archive)
        #expect(archive.keys.contains("NSUserInfo") && error.classForCoder == NSError.self)
    }

    /// Records the keys of the values, other than nil, that an object writes to an archive.
    private final class ArchiveKeys: NSCoder {
        private(set) var keys: Set<String> = []
        override var allowsKeyedCoding: Bool { true }
        override func encode(_ object: Any?, forKey key: String) { if object != nil { keys.insert(key) } }
        override func encode(_ value: Int32, forKey key: String) { keys.insert(key) }
    }

    @Test("Anchors are the given ones alone, together with the system's, or the system's again")
    func anchors() throws {
        let trust = try trust([leaf, intermediate])
        var anchors: CFArray?
        #expect(SecTrustCopyCustomAnchorCertificates(trust, &anchors) == errSecSuccess && anchors == nil)
        #expect(SecTrustSetAnchorCertificates(trust, [root] as CFArray) == errSecSuccess)
        #expect(
            SecTrustCopyCustomAnchorCertificates(trust, &anchors) == errSecSuccess
                && anchors as? [SecCertificate] == [root])
        #expect(refusal(trust) == nil)
        // A chain to one of the system's anchors is trusted only with the system's anchors.
        var known: CFArray?
        #expect(SecTrustCopyAnchorCertificates(&known) == errSecSuccess)
        let system = try #require((known as? [SecCertificate])?.first)
        var of: SecTrust?
        #expect(SecTrustCreateWithCertificates(system, SecPolicyCreateBasicX509(), &of) == errSecSuccess)
        let other = try #require(of)
        let inside = Date(timeIntervalSince1970: 1_780_000_000) as CFDate
        #expect(SecTrustSetVerifyDate(other, inside) == errSecSuccess)
        for (set, only, expected) in [
            (nil, nil, nil), (nil, true, errSecNotTrusted), ([root], nil, errSecNotTrusted),
            ([root], true, errSecNotTrusted),
            ([root], false, nil), (nil, nil, nil),
        ] as [([SecCertificate]?, Bool?, OSStatus?)] {
            #expect(SecTrustSetAnchorCertificates(other, set as CFArray?) == errSecSuccess)
            if let only { #expect(SecTrustSetAnchorCertificatesOnly(other, only) == errSecSuccess) }
            #expect(refusal(other) == expected, "\(set?.count ?? -1) \(String(describing: only))")
        }
        // Setting anchors makes them the only ones again, regardless of earlier settings.
        #expect(SecTrustSetAnchorCertificatesOnly(other, false) == errSecSuccess)
        #expect(SecTrustSetAnchorCertificates(other, [root] as CFArray) == errSecSuccess)
        #expect(refusal(other) == errSecNotTrusted)
        #expect(SecTrustSetVerifyDate(other, Date(timeIntervalSince1970: -9.2e18) as CFDate) == errSecSuccess)
        #expect(refusal(other) != nil)
        #expect(SecTrustSetAnchorCertificates(trust, ["no certificate"] as CFArray) == errSecParam)
    }

    @Test("An object that is not a certificate or a policy gives errSecParam")
    func parameters() throws {
        var trust: SecTrust?
        for wrong in ["text", [] as [SecCertificate], [leaf, "text"] as [Any], 5] as [Any] {
            #expect(SecTrustCreateWithCertificates(wrong, nil, &trust) == errSecParam)
        }
        #expect(SecTrustCreateWithCertificates(leaf, "text", &trust) == errSecParam && trust == nil)
        #expect(SecTrustCreateWithCertificates(leaf, nil, &trust) == errSecSuccess)
        let made = try #require(trust)
        #expect(SecTrustSetPolicies(made, [] as [SecPolicy]) == errSecParam)
        var policies: CFArray?
        #expect(SecTrustCopyPolicies(made, &policies) == errSecSuccess)
        #expect(policies as? [SecPolicy] == [SecPolicyCreateBasicX509()])
        let both = [SecPolicyCreateSSL(true, "example.com" as CFString), SecPolicyCreateBasicX509()]
        #expect(SecTrustSetPolicies(made, both) == errSecSuccess)
        #expect(SecTrustCopyPolicies(made, &policies) == errSecSuccess && policies as? [SecPolicy] == both)
    }

    @Test("All policies must be satisfied, and the basic policy requires no name")
    func policies() throws {
        let trust = try trust([leaf, intermediate], host: "example.org", anchors: [root])
        #expect(refusal(trust) == errSecHostNameMismatch)
        #expect(SecTrustSetPolicies(trust, SecPolicyCreateBasicX509()) == errSecSuccess)
        #expect(refusal(trust) == nil)
        #expect(
            SecTrustSetPolicies(
                trust, [SecPolicyCreateBasicX509(), SecPolicyCreateSSL(true, "example.org" as CFString)])
                == errSecSuccess)
        #expect(refusal(trust) == errSecHostNameMismatch)
        #expect(SecTrustSetPolicies(trust, SecPolicyCreateSSL(false, nil)) == errSecSuccess)
        #expect(refusal(trust) == errSecInvalidExtendedKeyUsage)
        #expect(SecTrustSetPolicies(trust, SecPolicyCreateSSL(true, nil)) == errSecSuccess)
        #expect(refusal(trust) == nil)
        // A syntactically invalid name matches no certificate.
        for name in ["bücher.example", "", "*.example.com", "example.com:443"] {
            #expect(SecTrustSetPolicies(trust, SecPolicyCreateSSL(true, name as CFString)) == errSecSuccess)
            #expect(refusal(trust) == errSecHostNameMismatch, "\(name)")
        }
    }

    @Test("An evaluation that any server's certificate passes is logged once")
    func nameless() throws {
        let warnings = Mutex<[String]>([])
        func logged(_ policies: [SecPolicy], _ leaf: SecCertificate) throws -> Int {
            warnings.withLock { $0 = [] }
            try ProgramLog.$current.withValue(ProgramLog { text in warnings.withLock { $0.append(text) } }) {
                let trust = try trust([leaf, intermediate], anchors: [root])
                #expect(SecTrustSetPolicies(trust, policies) == errSecSuccess)
                // Not an evaluation that the program asked for.
                #expect(SecTrustCopyCertificateChain(trust) != nil && warnings.withLock { $0.isEmpty })
                for _ in 0..<2 { _ = SecTrustEvaluateWithError(trust, nil) }
            }
            return warnings.withLock { $0.count }
        }
        let revocation = try #require(SecPolicyCreateRevocation(kSecRevocationUseAnyAvailableMethod))
        #expect(try logged([SecPolicyCreateBasicX509()], leaf) == 1)
        #expect(try logged([SecPolicyCreateBasicX509(), revocation], leaf) == 1)
        #expect(try logged([SecPolicyCreateSSL(true, nil)], leaf) == 1)
        #expect(warnings.withLock { $0 }.first?.contains("SecPolicyCreateSSL(true, host)") == true)
        #expect(try logged([SecPolicyCreateSSL(true, "example.com" as CFString)], leaf) == 0)
        #expect(
            try logged([SecPolicyCreateBasicX509(), SecPolicyCreateSSL(true, "example.com" as CFString)], leaf) == 0)
        #expect(try logged([SecPolicyCreateSSL(false, nil)], leaf) == 0)
        #expect(try logged([SecPolicyCreateBasicX509()], intermediate) == 0)
    }

    @Test("The validation time is the time of the evaluation, or the time that was set")
    func date() throws {
        let trust = try trust([leaf, intermediate], anchors: [root])
        #expect(abs(SecTrustGetVerifyTime(trust) - Date().timeIntervalSinceReferenceDate) < 60)
        for (days, expected) in [(-1.0, errSecCertificateNotValidYet), (1, nil), (91, errSecCertificateExpired)]
            as [(Double, OSStatus?)]
        {
            let date = Date(timeIntervalSinceNow: days * 86_400)
            #expect(SecTrustSetVerifyDate(trust, date as CFDate) == errSecSuccess)
            #expect(refusal(trust) == expected)
            #expect(abs(SecTrustGetVerifyTime(trust) - date.timeIntervalSinceReferenceDate) < 0.001)
        }
    }

    @Test("Exceptions apply to the same certificate and the same failures, and never to a broken signature")
    func exceptions() throws {
        let wrongHost = try trust([leaf, intermediate], host: "example.org", anchors: [root])
        let exceptions = try #require(SecTrustCopyExceptions(wrongHost))
        #expect(SecTrustSetExceptions(wrongHost, exceptions))
        #expect(refusal(wrongHost) == nil)
        var result = SecTrustResultType.invalid
        #expect(SecTrustGetTrustResult(wrongHost, &result) == errSecSuccess && result == .proceed)
        // Expired as well: a failure that the exceptions do not include.
        #expect(SecTrustSetVerifyDate(wrongHost, Date(timeIntervalSinceNow: 100 * 86_400) as CFDate) == errSecSuccess)
        #expect(refusal(wrongHost) != nil)
        #expect(!SecTrustSetExceptions(wrongHost, nil))
        // Another certificate.
        let other = try certificate(authority.server("example.com"))
        let another = try trust([other, intermediate], host: "example.org", anchors: [root])
        #expect(!SecTrustSetExceptions(another, exceptions))
        #expect(refusal(another) == errSecHostNameMismatch)
        for garbage in [Data(), Data([1]), Data(repeating: 1, count: 40), (exceptions as Data).dropLast()] {
            #expect(!SecTrustSetExceptions(another, garbage as CFData))
        }
        // An invalid signature.
        var der = issued.der
        der[der.count - 1] ^= 1
        let broken = try trust(
            [try #require(SecCertificateCreateWithData(nil, der as CFData)), intermediate], anchors: [root])
        #expect(refusal(broken) == errSecInvalidSignature)
        #expect(SecTrustCopyExceptions(broken) == nil)
        #expect(SecTrustGetTrustResult(broken, &result) == errSecSuccess && result == .fatalTrustFailure)
    }

    @Test("A stapled OCSP response is used, and a policy can require one")
    func revocation() throws {
        let revoked = try authority.server("example.com")
        let revocation = try OpenSSLRevocation(authority, revoked: [revoked], others: [issued])
        func answer(_ about: OpenSSLAuthority.IssuedCertificate) throws -> CFData {
            let file = try revocation.answer(about: about, of: authority.intermediate, signer: authority.intermediate)
            return try Data(contentsOf: URL(filePath: file)) as CFData
        }
        let later = Date(timeIntervalSinceNow: 5) as CFDate
        let bad = try trust([try certificate(revoked), intermediate], anchors: [root])
        SecTrustSetVerifyDate(bad, later)
        #expect(refusal(bad) == nil)
        #expect(SecTrustSetOCSPResponse(bad, try answer(revoked)) == errSecSuccess)
        #expect(refusal(bad) == errSecCertificateRevoked)
        #expect(SecTrustCopyExceptions(bad) == nil)
        #expect(SecTrustSetOCSPResponse(bad, nil) == errSecSuccess)
        #expect(refusal(bad) == nil)
        let good = try trust([leaf, intermediate], anchors: [root])
        SecTrustSetVerifyDate(good, later)
        #expect(SecTrustSetOCSPResponse(good, [try answer(issued)]) == errSecSuccess)
        #expect(refusal(good) == nil)
        let flags = kSecRevocationUseAnyAvailableMethod | kSecRevocationRequirePositiveResponse
        let required = try #require(SecPolicyCreateRevocation(flags))
        #expect(
            SecTrustSetPolicies(good, [SecPolicyCreateSSL(true, "example.com" as CFString), required]) == errSecSuccess)
        // There is no revocation evidence for the intermediate.
        #expect(refusal(good) == errSecIncompleteCertRevocationCheck)
        #expect(SecTrustSetOCSPResponse(good, "text") == errSecParam)
        #expect(SecTrustSetOCSPResponse(good, Data("text".utf8)) == errSecOCSPBadResponse)
        #expect(SecPolicyCreateRevocation(1 << 20) == nil)
        #expect(SecPolicyCopyProperties(required)?[kSecPolicyRevocationFlags] as? Int == 11)
        #expect(SecPolicyCreateWithProperties(kSecPolicyAppleRevocation, SecPolicyCopyProperties(required)) == required)
    }

    @Test("An issuer that was not presented is found in the keychain, but is not trusted because of it")
    func keychainIssuers() throws {
        try withKeychain(.ephemeral) { _ in
            let alone = try trust([leaf], anchors: [root])
            #expect(refusal(alone) == errSecNotTrusted)
            for certificate in [intermediate, root] {
                #expect(
                    SecItemAdd([kSecClass: kSecClassCertificate, kSecValueRef: certificate] as CFDictionary, nil)
                        == errSecSuccess)
            }
            #expect(refusal(alone) == nil)
            #expect(SecTrustCopyCertificateChain(alone) as? [SecCertificate] == [leaf, intermediate, root])
            #expect(refusal(try trust([leaf])) == errSecNotTrusted)
        }
    }

    @Test(
        "Revocation is fetched if a policy requests it and the network is allowed; the result has an expiration date"
    )
    func fetching() throws {
        // The responses of the server for these two certificates, once both exist.
        let lists = Lists()
        let server = try LoopbackServer { .content(lists[$0.target]) }
        func place(_ target: String) -> String { "crlDistributionPoints=URI:\(server.url(target))\n" }
        let extensions =
            "basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign,cRLSign\nsubjectKeyIdentifier=hash\n"
        let issuer = try authority.issue(
            "/CN=Placed authority", extensions + "authorityKeyIdentifier=keyid\n" + place("/root"), by: authority.root)
        let names = OpenSSLAuthority.server("DNS:example.com") + place("/issuer")
        let (good, bad) = (
            try authority.issue("/CN=good", names, by: issuer), try authority.issue("/CN=bad", names, by: issuer)
        )
        lists["/root"] = try OpenSSLRevocation(authority, revoked: [], others: [issuer]).listBytes(by: authority.root)
        lists["/issuer"] = try OpenSSLRevocation(authority, revoked: [bad], others: [good]).listBytes(by: issuer)

        let required = try #require(
            SecPolicyCreateRevocation(kSecRevocationCRLMethod | kSecRevocationRequirePositiveResponse))
        let policies = [SecPolicyCreateSSL(true, "example.com" as CFString), required]
        for (issued, mayFetch, expected) in [
            (good, false, errSecIncompleteCertRevocationCheck), (good, true, nil),
            (bad, true, errSecCertificateRevoked),
        ] {
            let trust = try trust([try certificate(issued), try certificate(issuer)], anchors: [root])
            SecTrustSetVerifyDate(trust, Date(timeIntervalSinceNow: 5) as CFDate)
            #expect(refusal(trust) == nil)
            #expect(SecTrustCopyResult(trust)?[kSecTrustRevocationChecked] == nil)
            #expect(SecTrustSetPolicies(trust, policies) == errSecSuccess)
            #expect(SecTrustSetNetworkFetchAllowed(trust, mayFetch) == errSecSuccess)
            #expect(refusal(trust) == expected)
            #expect(server.requests.isEmpty == !mayFetch)
            guard expected == nil, let told = SecTrustCopyResult(trust) else { continue }
            #expect(told[kSecTrustRevocationChecked] as? Bool == true)
            let end = try #require(told[kSecTrustRevocationValidUntilDate] as? Date)
            #expect(29 * 86_400...30 * 86_400 ~= end.timeIntervalSinceNow)
        }
    }

    /// The CRLs by the path of the request.
    private final class Lists: Sendable {
        private let lists = Mutex<[String: [UInt8]]>([:])

        subscript(_ target: String) -> [UInt8] {
            get { lists.withLock { $0[target] ?? [] } }
            set { lists.withLock { $0[target] = newValue } }
        }
    }

    @Test("An evaluation on a queue gives the same verdict and error")
    func asynchronous() async throws {
        for (host, expected) in [("example.com", nil), ("example.org", errSecHostNameMismatch)] as [(String, OSStatus?)]
        {
            let trust = try trust([leaf, intermediate], host: host, anchors: [root])
            let code = await withCheckedContinuation { continuation in
                let status = SecTrustEvaluateAsyncWithError(trust, DispatchQueue(label: "trust")) {
                    evaluatedTrust, isTrusted, error in
                    let isRight = evaluatedTrust === trust && isTrusted == (error == nil)
                    continuation.resume(returning: isRight ? error.map { OSStatus($0.code) } : 1)
                }
                if status != errSecSuccess { continuation.resume(returning: status) }
            }
            #expect(code == expected)
        }
    }

    @Test("Options apply to the following evaluations, and unknown options give errSecParam")
    func options() throws {
        let old = try trust([leaf, intermediate], anchors: [root])
        #expect(SecTrustSetVerifyDate(old, Date(timeIntervalSinceNow: 100 * 86_400) as CFDate) == errSecSuccess)
        #expect(refusal(old) == errSecCertificateExpired)
        #expect(SecTrustSetOptions(old, [.allowExpired, .fetchIssuerFromNet, .useTrustSettings]) == errSecSuccess)
        #expect(refusal(old) == nil)
        var result = SecTrustResultType.invalid
        #expect(SecTrustGetTrustResult(old, &result) == errSecSuccess && result == .proceed)
        #expect(SecTrustSetOptions(old, .allowExpiredRoot) == errSecSuccess)
        #expect(refusal(old) == errSecCertificateExpired)
        #expect(SecTrustSetOptions(old, SecTrustOptionFlags(rawValue: 0x80)) == errSecParam)
        let unknown = try trust([leaf, intermediate, root], anchors: [])
        #expect(refusal(unknown) == errSecNotTrusted)
        #expect(SecTrustSetOptions(unknown, .implicitAnchors) == errSecSuccess)
        #expect(refusal(unknown) == nil)
        let required = try trust([leaf, intermediate], anchors: [root])
        #expect(SecTrustSetNetworkFetchAllowed(required, false) == errSecSuccess)
        #expect(SecTrustSetOptions(required, .requireRevPerCert) == errSecSuccess)
        #expect(refusal(required) == errSecIncompleteCertRevocationCheck)
        let flags: [(SecTrustOptionFlags, UInt32)] = [
            (.allowExpired, 1), (.leafIsCA, 2), (.fetchIssuerFromNet, 4), (.allowExpiredRoot, 8),
            (.requireRevPerCert, 16),
            (.useTrustSettings, 32), (.implicitAnchors, 64),
        ]
        for (flag, bit) in flags { #expect(flag.rawValue == bit) }
    }

    @Test("Certificate transparency timestamps must be Data, and do not change the verdict")
    func timestamps() throws {
        let trust = try trust([leaf, intermediate], anchors: [root])
        #expect(SecTrustSetSignedCertificateTimestamps(trust, [Data([0, 1, 2]), Data()] as CFArray) == errSecSuccess)
        #expect(refusal(trust) == nil)
        #expect(SecTrustSetSignedCertificateTimestamps(trust, ["text"] as CFArray) == errSecParam)
        #expect(SecTrustSetSignedCertificateTimestamps(trust, nil) == errSecSuccess)
        #expect(refusal(trust) == nil)
        // A change requires a new evaluation.
        var result = SecTrustResultType.proceed
        #expect(SecTrustSetSignedCertificateTimestamps(trust, [] as CFArray) == errSecSuccess)
        #expect(SecTrustGetTrustResult(trust, &result) == errSecSuccess && result == .invalid)
    }

    @Test("A certificate has a short description, and a long one with a line for each field")
    func descriptions() throws {
        var error: Unmanaged<CFError>?
        #expect(SecCertificateCopyShortDescription(nil, leaf, &error) as String? == "example.com")
        let long = try #require(SecCertificateCopyLongDescription(nil, leaf, &error) as String?)
        #expect(error == nil)
        let lines = long.components(separatedBy: "\n")
        #expect(
            lines.map { String($0.prefix { $0 != ":" }) } == [
                "Subject", "Issuer", "Serial number", "Not valid before", "Not valid after", "Public key", "Signature",
                "SHA-256",
            ])
        #expect(lines[0].contains("CN=example.com") && lines[1].contains("CN=Test intermediate"))
        #expect(lines[7].count == "SHA-256: ".count + 32 * 3 - 1)
        // Text in a certificate cannot start a new line.
        let names = OpenSSLAuthority.server("DNS:example.com")
        let hostile = try certificate(authority.issue("/CN=a\u{202E}b\u{1B}[2Jc", names, by: authority.intermediate))
        for text in [
            SecCertificateCopyShortDescription(nil, hostile, nil), SecCertificateCopyLongDescription(nil, hostile, nil),
        ] {
            let said = try #require(text as String?)
            #expect(!said.isEmpty && !said.contains("\u{202E}") && !said.contains("\u{1B}"))
        }
    }

    @Test("Failures are reported for each certificate")
    func properties() throws {
        let trust = try trust([leaf, intermediate], host: "example.org", anchors: [root])
        let properties = try #require(SecTrustCopyProperties(trust) as? [[String: Any]])
        #expect(
            properties.map { $0[kSecPropertyTypeTitle as String] as? String } == [
                "example.com", "Test intermediate", "Test root",
            ])
        #expect(
            (properties[0][kSecPropertyTypeError as String] as? String)?.contains("not for example.org") == true)
        #expect(properties[1][kSecPropertyTypeError as String] == nil)
    }
}
