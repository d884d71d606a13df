// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import LatchkeyURLSession
import Testing

@Suite("Digest authentication")
struct DigestTests {
    private func parameters(_ authorization: String) throws -> [String: String] {
        try #require(AuthenticateField.challenges([authorization]).first).parameters
    }

    @Test(
        "The example of RFC 7616, section 3.9.1",
        arguments: [
            ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
            ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
        ])
    func example(_ algorithm: String, _ response: String) throws {
        let field = """
            Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=\(algorithm), \
            nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"
            """
        let challenge = try #require(AuthenticateField.challenges([field]).first.flatMap(DigestChallenge.init))
        let authorization = try challenge.authorization(
            user: "Mufasa", password: "Circle of Life", method: "GET", uri: "/dir/index.html", count: 1,
            clientNonce: "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ")
        let answer = try parameters(authorization)
        #expect(answer["response"] == response)
        #expect(answer["username"] == "Mufasa" && answer["nc"] == "00000001" && answer["qop"] == "auth")
        #expect(answer["opaque"] == "FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS" && answer["algorithm"] == algorithm)
    }

    @Test(
        "The body is protected if the server offers nothing else (auth-int)",
        arguments: [
            ("MD5", "87ff04fcc7717076c2b24a76fa7144d7"),
            ("SHA-256", "e5cff8a9cf2da0b4659c877c6ff6a01a058ff98f0076442673e77f0de847e044"),
        ])
    func protectedBody(_ algorithm: String, _ response: String) throws {
        // The expected values are those of Python's hashlib.
        let field = #"Digest realm="r", qop="auth-int", algorithm=\#(algorithm), nonce="n1""#
        let challenge = try #require(AuthenticateField.challenges([field]).first.flatMap(DigestChallenge.init))
        let answer = try parameters(
            challenge.authorization(
                user: "me", password: "right", method: "POST", uri: "/a?b=c", count: 1, clientNonce: "c1",
                body: Array("the body".utf8)))
        #expect(answer["response"] == response && answer["qop"] == "auth-int")
    }

    @Test("The example of RFC 7616, section 3.9.2, with SHA-512-256 and a hashed user (erratum 4897)")
    func hashedUser() throws {
        let field = """
            Digest realm="api@example.org", qop="auth", algorithm=SHA-512-256, userhash=true, charset=UTF-8, \
            nonce="5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK"
            """
        let challenge = try #require(AuthenticateField.challenges([field]).first.flatMap(DigestChallenge.init))
        let answer = try parameters(
            challenge.authorization(
                user: "J\u{E4}s\u{F8}n Doe", password: "Secret, or not?", method: "GET", uri: "/doe.json", count: 1,
                clientNonce: "NTg6RKcb9boFIAS3KrFK9BGeh+iDa/sm6jUMp2wds69v"))
        #expect(answer["response"] == "3798d4131c277846293534c3edc11bd8a5e4cdcbff78b05db9d95eeb1cec68a5")
        #expect(answer["username"] == "793263caabb707a56211940d90411ea4a575adeccb7e360aeb624ed06ece9b0b")
        #expect(answer["userhash"] == "true")
    }

    @Test(
        "A challenge with an unsupported requirement is not answered",
        arguments: [
            #"Digest realm="r", nonce="n", algorithm=SHA-1"#,
            #"Digest realm="r", qop="auth""#, #"Digest nonce="n", qop="auth""#, #"Basic realm="r""#,
            #"Digest realm="r", nonce="n", algorithm=MD5-sess"#,
        ])
    func unsupported(_ field: String) {
        #expect(AuthenticateField.challenges([field]).first.flatMap(DigestChallenge.init) == nil)
    }

    @Test(
        "The strongest scheme is answered first, and MD5 only if there is no better hash",
        arguments: [
            ([#"Basic realm="b""#, #"Digest realm="d", nonce="n", algorithm=MD5, qop="auth""#], ["MD5", "basic"]),
            (
                [
                    #"Digest realm="d", nonce="n", algorithm=MD5, qop=auth, Digest realm="d", nonce="n", algorithm=SHA-256-sess, qop=auth"#
                ], ["SHA-256-sess"]
            ),
            (
                [
                    #"Digest realm="d", nonce="n", algorithm=SHA-256, qop=auth"#,
                    #"Digest realm="d", nonce="m", algorithm=SHA-512-256, qop=auth"#, "Negotiate",
                ], ["SHA-512-256"]
            ),
            (["Bearer realm=x"], []),
        ] as [([String], [String])])
    func preference(_ fields: [String], _ expected: [String]) {
        let found = AuthenticationScheme.supported(AuthenticateField.challenges(fields)).map { scheme in
            switch scheme {
            case .digest(let challenge): challenge.algorithm
            case .basic: "basic"
            }
        }
        #expect(found == expected)
    }

    @Test(
        "Fields with several challenges are read, and a damaged rest ends the reading",
        arguments: [
            (#"Basic realm="a \"b\", c", Digest realm=x, nonce="y""#, ["basic", "digest"]),
            (#"Negotiate, Basic realm="a""#, ["negotiate", "basic"]), (#"Basic realm="open"#, ["basic"]),
            ("\u{7F}", []), ("", []), (",,, Basic realm=a,", ["basic"]),
        ] as [(String, [String])])
    func fields(_ field: String, _ schemes: [String]) {
        #expect(AuthenticateField.challenges([field]).map(\.scheme) == schemes)
    }

    @Test("Quotes in a realm and in names are escaped and read back")
    func quoting() throws {
        let challenge = try #require(
            AuthenticateField.challenges([#"Digest realm="a \"b\" \\", nonce="n", qop=auth"#]).first
                .flatMap(DigestChallenge.init))
        #expect(challenge.realm == #"a "b" \"#)
        let answer = try parameters(
            challenge.authorization(
                user: #"m"e"#, password: "p", method: "GET", uri: "/", count: 255, clientNonce: "c"))
        #expect(answer["realm"] == challenge.realm && answer["username"] == #"m"e"# && answer["nc"] == "000000ff")
    }
}
