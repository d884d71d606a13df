// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing

import Latchkey
@testable import LatchkeyPayloads

/// HTTP message signatures (RFC 9421).
@Suite("HTTP message signatures")
struct HTTPSignatureTests {
    private let now = SignatureVector.created + 60

    private func verifier(
        _ components: [HTTPComponent] = [], _ change: (inout HTTPSignaturePolicy) -> Void = { _ in }
    ) -> HTTPMessageVerifier {
        var policy = HTTPSignaturePolicy(requiring: components)
        change(&policy)
        return HTTPMessageVerifier(policy) { SignatureVector.key($0) }
    }

    private func status(_ body: () throws -> Void) throws -> Int {
        Int(try #require(throws: KeychainError.self) { try body() }.status.rawValue)
    }

    @Test("The signatures of RFC 9421 are valid, and with any bit changed they are not", arguments: SignatureVector.all)
    func vectors(_ vector: SignatureVector) throws {
        let verified = try verifier().verify(
            vector.message(), body: vector.lines.contains { $0.contains("digest") } ? body(of: vector) : nil, at: now)
        #expect(verified.label == vector.label)
        #expect(verified.components.count == vector.lines.count)
        var bytes = SignatureVector.decoded(vector.signature)
        bytes[bytes.startIndex + 7] ^= 1
        let message = try vector.message(signature: bytes.base64EncodedString())
        #expect(try status { try verifier().verify(message, at: now) } == -67808)
        let short = try vector.message(signature: bytes.dropLast().base64EncodedString())
        #expect(try status { try verifier().verify(short, at: now) } == -67808)
    }

    private func body(of vector: SignatureVector) -> Data {
        vector.isResponse ? SignatureVector.responseBody : SignatureVector.requestBody
    }

    @Test("The signature base has the lines of RFC 9421", arguments: SignatureVector.all)
    func base(_ vector: SignatureVector) throws {
        let member = try StructuredFieldParser.list(vector.input).first
        guard case .innerList(let items, let parameters)? = member else {
            Issue.record("the input is not a list")
            return
        }
        let base = try SignatureBase(items.map(HTTPComponent.init), parameters, of: vector.message())
        #expect(base.text == vector.base)
    }

    @Test("A shared secret makes the signature of RFC 9421, B.2.5")
    func signing() throws {
        let parameters = HTTPSignatureParameters(
            keyIdentifier: "test-shared-secret", created: SignatureVector.created)
        let signature = try SignatureVector.request().signature(
            with: .shared(SignatureVector.secret), covering: [.field("Date"), .authority, .field("content-type")],
            parameters, label: "sig-b25")
        let vector = try #require(SignatureVector.all.last)
        #expect(signature.fields.map(\.value) == ["sig-b25=\(vector.input)", "sig-b25=:\(vector.signature):"])
        #expect(signature.base == vector.base)
    }

    @Test("Keys of a keychain sign requests and responses, and their public halves verify them")
    func keys() throws {
        let keychain = try Keychain.ephemeral()
        let curve = try keychain.generate(P256SigningKey.self, tag: "curve", isExtractable: false)
        let rsa = try keychain.generate(RSAPrivateKey.self, bits: 2048, tag: "rsa", isExtractable: false)
        let publicKeys: [String: HTTPVerificationKey] = [
            "curve": .p256(try curve.publicKey), "rsa": .rsa(try rsa.publicKey),
        ]
        let request = try SignatureVector.request()
        for (name, key) in [("curve", HTTPSigningKey.p256(curve)), ("rsa", .rsa(rsa))] {
            var parameters = HTTPSignatureParameters(keyIdentifier: name, lifetime: 60, nonce: "n", tag: "t")
            parameters.namesAlgorithm = true
            let response = try SignatureVector.response(to: request)
            let components: [HTTPComponent] = [
                .status, .field("content-digest", key: "sha-512"), .field("content-digest").wrapped,
                .field("content-digest"), .method.ofRequest, .targetURI.ofRequest, .requestTarget.ofRequest,
            ]
            let signature = try response.signature(with: key, covering: components, parameters)
            let verifier = HTTPMessageVerifier(HTTPSignaturePolicy(requiring: components)) { publicKeys[$0] }
            let signed = try response.adding(signature.fields)
            let verified = try verifier.verify(signed, body: SignatureVector.responseBody)
            #expect(verified.algorithm == key.algorithm && verified.parameters == parameters)
            // The same response to another request is not authentic.
            let other = try SignatureVector.response(to: SignatureVector.request("PUT")).adding(signature.fields)
            #expect(try status { try verifier.verify(other) } == -67808)
            #expect(try status { _ = try signed.signature(with: key, covering: components, parameters) } == -50)
        }
    }

    // MARK: The key determines the algorithm

    @Test("A message cannot choose the algorithm: a public key is never used as a shared secret")
    func confusion() throws {
        let publicKey = try P256SigningKey().publicKey
        let verifier = HTTPMessageVerifier(HTTPSignaturePolicy(requiring: [.method])) { _ in .p256(publicKey) }
        for (namesAlgorithm, expected) in [(true, -67731), (false, -67808)] {
            var parameters = HTTPSignatureParameters(keyIdentifier: "key")
            parameters.namesAlgorithm = namesAlgorithm
            let request = try SignatureVector.request()
            let forged = try request.signature(
                with: .shared(SharedSecret(copying: publicKey.x963)), covering: [.method], parameters)
            #expect(try status { try verifier.verify(request.adding(forged.fields)) } == expected)
        }
    }

    @Test(
        "MD5, bare hashes and other algorithms are refused by name, with the reason",
        arguments: [
            ("md5", "a hash has no key"), ("sha-256", "a hash has no key"), ("hmac-md5", "MD5 is broken"),
            ("rsa-sha1", "SHA-1 is broken"), ("rsa-v1_5-sha256", "legacy"), ("none", "not authentic"),
            ("ed25519", "not supported"), ("HMAC-SHA256", "not supported"),
        ])
    func refused(_ name: String, _ reason: String) throws {
        let input = #"sig1=();created=\#(now);keyid="test-shared-secret";alg="\#(name)""#
        let message = try SignatureVector.request().adding([
            HTTPField("Signature-Input", input), HTTPField("Signature", "sig1=:AAAA:"),
        ])
        let error = try #require(throws: KeychainError.self) { try verifier().verify(message, at: now) }
        #expect(error.status.rawValue == -4)
        #expect(error.problem.contains(name) && error.problem.contains(reason))
    }

    @Test("Short shared secrets and short RSA keys are refused")
    func weakKeys() throws {
        let parameters = HTTPSignatureParameters(keyIdentifier: nil)
        let request = try SignatureVector.request()
        for key in [HTTPSigningKey.shared(SharedSecret(copying: [UInt8](repeating: 7, count: 31)))] {
            #expect(try status { _ = try request.signature(with: key, covering: [], parameters) } == -25311)
        }
        let rsa = try RSAPrivateKey(bits: 1024)
        #expect(try status { _ = try request.signature(with: .rsa(rsa), covering: [], parameters) } == -25311)
        let vector = try #require(SignatureVector.all.first)
        let weak = HTTPMessageVerifier(HTTPSignaturePolicy(requiring: [])) { _ in (try? rsa.publicKey).map { .rsa($0) }
        }
        #expect(try status { try weak.verify(vector.message(), at: now) } == -25311)
    }

    // MARK: The policy

    @Test("The verifier's policy decides on age, expiry, components, tag and nonce")
    func policy() throws {
        let vectors = SignatureVector.all
        let (empty, tagged, digest) = (vectors[0], vectors[1], vectors[2])
        let cases: [(SignatureVector, HTTPMessageVerifier, Int64, Int?)] = [
            (empty, verifier(), SignatureVector.created - 30, nil),
            (empty, verifier(), SignatureVector.created - 31, -67883),
            (empty, verifier(), SignatureVector.created + 300, nil),
            (empty, verifier(), SignatureVector.created + 301, -67883),
            (empty, verifier(), .max, -67883), (empty, verifier(), .min, -67883),
            (empty, verifier { $0.maxAge = nil }, .max, nil),
            (empty, verifier { $0.requiresExpires = true }, now, -67871),
            (empty, verifier([.method]), now, -67871), (digest, verifier([.method]), now, nil),
            (digest, verifier([.method.ofRequest]), now, -67871),
            (tagged, verifier { $0.tag = "header-example" }, now, nil),
            (tagged, verifier { $0.tag = "another" }, now, -25300),
            (empty, verifier { $0.recordNonce = { $0 == "b3k2pp5k7z-50gnwp.yemd" } }, now, nil),
            (empty, verifier { $0.recordNonce = { _ in false } }, now, -25299),
            (tagged, verifier { $0.recordNonce = { _ in true } }, now, -67871),
        ]
        for (index, (vector, verifier, time, expected)) in cases.enumerated() {
            let message = try vector.message()
            guard let expected else {
                _ = try verifier.verify(message, at: time)
                continue
            }
            #expect(try status { try verifier.verify(message, at: time) } == expected, "case \(index)")
        }
    }

    @Test("A signature expires, and must not expire before it was created")
    func expiry() throws {
        let request = try SignatureVector.request()
        for (lifetime, time, expected) in [(60, 89, nil), (60, 90, -67883), (-1, 0, -67883)] as [(Int64, Int64, Int?)] {
            let parameters = HTTPSignatureParameters(
                keyIdentifier: "test-shared-secret", lifetime: lifetime, created: SignatureVector.created)
            let signature = try request.signature(
                with: .shared(SignatureVector.secret), covering: [.method], parameters)
            let message = try request.adding(signature.fields)
            let verify = { _ = try verifier().verify(message, at: SignatureVector.created + time) }
            if let expected { #expect(try status(verify) == expected) } else { try verify() }
        }
    }

    @Test("A nonce is not used up by a signature that is not valid")
    func nonce() throws {
        let used = Mutex(0)
        let verifier = verifier { $0.recordNonce = { _ in used.withLock { $0 += 1 } == () } }
        let vector = try #require(SignatureVector.all.first)
        let forged = try vector.message(signature: Data(repeating: 1, count: 256).base64EncodedString())
        #expect(try status { try verifier.verify(forged, at: now) } == -67808)
        #expect(used.withLock { $0 } == 0)
        try verifier.verify(vector.message(), at: now)
        #expect(used.withLock { $0 } == 1)
    }

    @Test("A body is verified only by a digest that the signature covers")
    func bodies() throws {
        let covered = try SignatureVector.all[2].message()
        try verifier().verify(covered, body: SignatureVector.requestBody, at: now)
        #expect(try status { try verifier().verify(covered, body: Data("another".utf8), at: now) } == -67808)
        let uncovered = try SignatureVector.all[4].message()
        #expect(
            try status { try verifier().verify(uncovered, body: SignatureVector.requestBody, at: now) } == -67871)
        #expect(ContentDigest.field(for: SignatureVector.requestBody).value == SignatureVector.requestDigest)
        let weak = try HTTPMessageHead.response(200, fields: [HTTPField("Content-Digest", "md5=:AAAA:, sha=:AAAA:")])
        let error = try #require(throws: KeychainError.self) { try ContentDigest.verify(Data(), of: weak) }
        #expect(error.status.rawValue == -4 && error.problem.contains("md5, sha: MD5, SHA-1"))
    }

    // MARK: Hostile messages

    @Test(
        "A message with a malformed or ambiguous signature is refused",
        arguments: [
            (#"sig1=("@method")"#, "sig2=:AAAA:", -50), (#"sig1=("@method");created=1;created=2"#, "sig1=:AAAA:", -50),
            (#"sig1=("@method"), sig1=()"#, "sig1=:AAAA:", -50), (#"sig1=("@method"), sig2=()"#, "sig1=:AAAA:", -50),
            (#"sig1=("@method"), sig2=()"#, "sig1=:AAAA:, sig2=:AAAA:", -50), ("sig1=1", "sig1=:AAAA:", -50),
            (#"sig1=("@method")"#, #"sig1="AAAA""#, -50), (#"sig1=(1)"#, "sig1=:AAAA:", -50),
            (#"sig1=("@nothing")"#, "sig1=:AAAA:", -50), (#"sig1=("Date")"#, "sig1=:AAAA:", -50),
            (#"sig1=("@signature-params")"#, "sig1=:AAAA:", -50), (#"sig1=("@method";sf)"#, "sig1=:AAAA:", -50),
            (#"sig1=("date";x)"#, "sig1=:AAAA:", -50), (#"sig1=("date";bs;sf)"#, "sig1=:AAAA:", -50),
            (#"sig1=("@query-param")"#, "sig1=:AAAA:", -50), (#"sig1=();created="1""#, "sig1=:AAAA:", -50),
            (#"sig1=();created=-1"#, "sig1=:AAAA:", -50), (#"sig1=();keyid=1"#, "sig1=:AAAA:", -50),
            (#"sig1=();created=1618884500;keyid="other""#, "sig1=:AAAA:", -25300),
        ])
    func malformed(_ input: String, _ signature: String, _ expected: Int) throws {
        let message = try SignatureVector.request().adding([
            HTTPField("Signature-Input", input), HTTPField("Signature", signature),
        ])
        #expect(try status { try verifier().verify(message, at: now) } == expected)
    }

    @Test(
        "A component that the message does not have, or has twice, cannot be covered",
        arguments: [
            [.field("x-missing")], [.status], [.method, .method], [.queryParameter("none")],
            [.queryParameter("twice")], [.field("date").inTrailers], [.method.ofRequest], [.field("x-latin")],
            [.field("date").canonical], [.field("date", key: "a")], [.field("date").wrapped.canonical],
        ] as [[HTTPComponent]])
    func components(_ components: [HTTPComponent]) throws {
        let message = try HTTPMessageHead.request(
            "GET", url: "https://example.com/?twice=1&twi%63e=2",
            fields: [HTTPField("Date", "Tue, 20 Apr 2021 02:07:55 GMT"), HTTPField("X-Latin", "é")])
        let parameters = HTTPSignatureParameters(keyIdentifier: nil)
        let key = HTTPSigningKey.shared(SignatureVector.secret)
        #expect(try status { _ = try message.signature(with: key, covering: components, parameters) } == -50)
    }

    @Test("Targets and fields are normalized as in RFC 9421, sections 2.1 and 2.2")
    func normalization() throws {
        let message = try HTTPMessageHead.request(
            "GET",
            url: "HTTPS://Example.COM:443?var=this%20is%20a%20big%0Amultiline%20value&bar=with+plus+whitespace"
                + "&fa%C3%A7ade%22%3A%20=something",
            fields: [
                HTTPField("X-OWS-Header", "  Leading and trailing whitespace.\t "),
                HTTPField("X-Obs-Fold-Header", "Obsolete\r\n    line folding."),
                HTTPField("Cache-Control", "max-age=60"), HTTPField("cache-control", "   must-revalidate"),
                HTTPField("Example-Dict", "  a=1,    b=2;x=1;y=2,   c=(a   b   c)"), HTTPField("X-Empty", ""),
                HTTPField("Priority", "u=1,  i"),
            ],
            trailers: [HTTPField("Expires", "soon")])
        let values: [(HTTPComponent, String)] = [
            (.scheme, "https"), (.authority, "example.com"), (.path, "/"),
            (.queryParameter("var"), "this%20is%20a%20big%0Amultiline%20value"),
            (.queryParameter("bar"), "with%20plus%20whitespace"), (.queryParameter("façade\": "), "something"),
            (.field("x-ows-header"), "Leading and trailing whitespace."),
            (.field("x-obs-fold-header"), "Obsolete line folding."),
            (.field("cache-control"), "max-age=60, must-revalidate"),
            (.field("cache-control").wrapped, ":bWF4LWFnZT02MA==:, :bXVzdC1yZXZhbGlkYXRl:"),
            (.field("example-dict", key: "a"), "1"), (.field("example-dict", key: "b"), "2;x=1;y=2"),
            (.field("example-dict", key: "c"), "(a b c)"), (.field("x-empty"), ""),
            (.field("priority").canonical, "u=1, i"), (.field("expires").inTrailers, "soon"),
        ]
        for (component, value) in values {
            #expect(try message.value(of: component) == value, "\(component.identifier)")
        }
        #expect(try message.value(of: .targetURI).hasPrefix("https://example.com/?var=this"))
        #expect(HTTPComponent.field("a", key: "k").ofRequest == HTTPComponent.field("a").ofRequest.adding(key: "k"))
    }

    @Test(
        "An invalid HTTP message is refused",
        arguments: [
            ("GET", "/foo", "a", "b"), ("GET", "ftp://a/", "a", "b"), ("GET", "https://", "a", "b"),
            ("GET", "https://a@b/", "a", "b"), ("GET", "https://a/#b", "a", "b"), ("GET", "https://a/ b", "a", "b"),
            ("G T", "https://a/", "a", "b"), ("", "https://a/", "a", "b"), ("GET", "https://a/", "a b", "b"),
            ("GET", "https://a/", "", "b"), ("GET", "https://a/", "a", "b\nc: d"),
            ("GET", "https://a/", "a", "b\r\nc: d"),
            ("GET", "https://a/", "a", "b\0"), ("GET", "https://a/", "a", String(repeating: "b", count: 300_000)),
        ])
    func messages(_ method: String, _ url: String, _ name: String, _ value: String) throws {
        let fields = [HTTPField(name, value)]
        #expect(try status { _ = try HTTPMessageHead.request(method, url: url, fields: fields) } == -50)
    }
}

extension HTTPComponent {
    fileprivate func adding(key: String) -> HTTPComponent {
        var item = item
        item.parameters.set("key", .string(key))
        return (try? HTTPComponent(item)) ?? .status
    }
}
