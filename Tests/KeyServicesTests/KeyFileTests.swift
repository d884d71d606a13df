// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import KeychainTesting
@testable import KeyServices
import SecretMemory
import Testing

/// Key files and external representations, compared with openssl and ssh-keygen.
@Suite("Key files")
struct KeyFileTests {
    private static let passphrase = SharedSecret(copying: "a passphrase".utf8)

    @Test("openssl reads our key files, in each form", .long)
    func written() throws {
        let openssl = try OpenSSL()
        for key in SampleKeys.rsa + SampleKeys.curves {
            let text = try openssl.output(["pkey", "-in", openssl.file(.privateKey(key)), "-pubout", "-outform", "DER"])
            #expect(try KeyFile.read(text).first?.publicKey.external == key.publicKey.external)
            for structure in [KeyFile.Structure.pkcs8, .traditional] {
                for isPEM in [true, false] {
                    let file = try KeyFile.write(.privateKey(key), as: structure, isPEM: isPEM).bytes
                    let words = [
                        "pkey", "-in", try openssl.file(file), "-inform", isPEM ? "PEM" : "DER", "-pubout", "-outform",
                        "DER",
                    ]
                    #expect(try openssl.output(words) == text, "\(key.kind) \(structure)")
                    let half = try KeyFile.write(.publicKey(key.publicKey), as: structure, isPEM: isPEM).bytes
                    let isPKCS1 = structure == .traditional && key.kind.type == .rsa
                    let read = try openssl.output(
                        (isPKCS1 ? ["rsa", "-RSAPublicKey_in"] : ["pkey", "-pubin"])
                            + [
                                "-in", openssl.file(half), "-inform", isPEM ? "PEM" : "DER", "-pubout", "-outform",
                                "DER",
                            ])
                    #expect(read == text, "\(key.kind) \(structure)")
                }
            }
            let sealed = try KeyFile.write(.privateKey(key), as: .pkcs8, passphrase: Self.passphrase).bytes
            let opened = try openssl.output([
                "pkey", "-in", openssl.file(sealed), "-passin", "pass:a passphrase", "-pubout", "-outform", "DER",
            ])
            #expect(opened == text)
        }
    }

    @Test("We read openssl's key files, in each form", .long)
    func read() throws {
        let openssl = try OpenSSL()
        for key in SampleKeys.rsa + SampleKeys.curves {
            let file = try openssl.file(.privateKey(key))
            let external = try key.external()
            var forms = [
                ["pkey"], ["pkey", "-outform", "DER"], ["pkey", "-traditional"],
                ["pkey", "-traditional", "-outform", "DER"],
            ]
            forms.append(["pkcs8", "-topk8", "-passout", "pass:a passphrase"])
            forms.append(["pkcs8", "-topk8", "-scrypt", "-passout", "pass:a passphrase", "-outform", "DER"])
            forms.append([
                "pkcs8", "-topk8", "-v2", "aes-128-cbc", "-v2prf", "hmacWithSHA1", "-passout", "pass:a passphrase",
            ])
            for form in forms {
                let bytes = try openssl.output(form + ["-in", file])
                let isSealed = form.contains("-passout")
                guard
                    case .privateKey(let found) = try #require(
                        KeyFile.read(bytes, passphrase: isSealed ? Self.passphrase : nil).first)
                else {
                    Issue.record("\(form): not a private key")
                    continue
                }
                #expect(try found.external() == external, "\(key.kind) \(form)")
                guard isSealed else { continue }
                #expect(status { () throws(KeychainError) in _ = try KeyFile.read(bytes) } == -25293)
                #expect(
                    status { () throws(KeychainError) in
                        _ = try KeyFile.read(bytes, passphrase: SharedSecret(copying: "other".utf8))
                    }
                        == -25293)
            }
            for form in [["pkey", "-pubout"], ["pkey", "-pubout", "-outform", "DER"]] {
                let entry = try #require(KeyFile.read(openssl.output(form + ["-in", file])).first)
                guard case .publicKey(let half) = entry else {
                    Issue.record("\(form): not a public key")
                    continue
                }
                #expect(half.external == key.publicKey.external)
            }
        }
    }

    @Test("ssh-keygen reads our key files, and we read its key files")
    func openSSH() throws {
        let openssl = try OpenSSL()
        for key in [SampleKeys.rsa2048, SampleKeys.p256, SampleKeys.p384, SampleKeys.p521].compactMap({ $0 }) {
            let own = try openssl.file(.privateKey(key), as: .openSSH)
            chmod(own, 0o600)
            let line = try openssl.output(["-y", "-f", own], program: "/usr/bin/ssh-keygen")
            #expect(try KeyFile.read(line).first?.publicKey.external == key.publicKey.external)
            #expect(line.starts(with: try KeyFile.write(.publicKey(key.publicKey), as: .openSSH).bytes.dropLast()))
        }
        for kind in [["rsa", "2048"], ["ecdsa", "256"], ["ecdsa", "384"], ["ecdsa", "521"]] {
            let path = try openssl.file([]) + "-key"
            try openssl.output(
                ["-q", "-t", kind[0], "-b", kind[1], "-N", "", "-C", "a comment", "-f", path],
                program: "/usr/bin/ssh-keygen")
            let bytes = Array(try Data(contentsOf: URL(filePath: path)))
            guard case .privateKey(let key) = try #require(KeyFile.read(bytes).first) else { continue }
            let line = Array(try Data(contentsOf: URL(filePath: path + ".pub")))
            #expect(try KeyFile.read(line).first?.publicKey.external == key.publicKey.external)
            #expect(
                try key.publicKey.external == SoftwareKey.read(key.external().bytes, key.kind.type).publicKey.external)
        }
        let sealed = try openssl.file([]) + "-sealed"
        try openssl.output(["-q", "-t", "ecdsa", "-N", "a passphrase", "-f", sealed], program: "/usr/bin/ssh-keygen")
        #expect(
            status { () throws(KeychainError) in
                _ = try KeyFile.read(Array((try? Data(contentsOf: URL(filePath: sealed))) ?? Data()))
            }
                == -4)
        let other = try openssl.file([]) + "-ed25519"
        try openssl.output(["-q", "-t", "ed25519", "-N", "", "-f", other], program: "/usr/bin/ssh-keygen")
        #expect(
            status { () throws(KeychainError) in
                _ = try KeyFile.read(Array((try? Data(contentsOf: URL(filePath: other))) ?? Data()))
            }
                == -4)
    }

    @Test("A key of another type is refused with its type and the supported ones, encrypted or not, also a public one")
    func otherTypes() throws {
        let openssl = try OpenSSL()
        func expectRefusal(_ bytes: [UInt8], _ type: String) {
            let error = #expect(throws: KeychainError.self) { try KeyFile.read(bytes) }
            let supported = "supported are RSA, and ECDSA on P-256, P-384 and P-521"
            #expect(error?.status == .unimplemented && error?.status.exitCode == 252)
            #expect(error?.problem == "keys of the kind \(type) are not supported; \(supported)")
        }
        for phrase in ["", "a passphrase"] {
            let path = try openssl.file([]) + "-ed25519-\(phrase.count)"
            try openssl.output(["-q", "-t", "ed25519", "-N", phrase, "-f", path], program: "/usr/bin/ssh-keygen")
            for file in [path, path + ".pub"] {
                expectRefusal(Array(try Data(contentsOf: URL(filePath: file))), "Ed25519 (ssh-ed25519)")
            }
        }
        for (name, type) in [
            ("ssh-dss", "DSA"), ("sk-ssh-ed25519@openssh.com", "Ed25519 on a security key"),
            ("sk-ecdsa-sha2-nistp256@openssh.com", "ECDSA on a security key"),
        ] {
            var blob = SSHWriter()
            blob.write(string: name.utf8)
            let text = blob.bytes().withUnsafeBytes { Data($0).base64EncodedString() }
            expectRefusal(Array("\(name) \(text) alice@example.com\n".utf8), "\(type) (\(name))")
        }
        for (words, type) in [
            (["-algorithm", "ED25519"], "Ed25519"), (["-algorithm", "X25519"], "X25519"),
            (["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:secp256k1"], "ECDSA on secp256k1"),
        ] {
            let key = try openssl.output(["genpkey"] + words)
            expectRefusal(key, type)
            expectRefusal(try openssl.output(["pkey", "-in", openssl.file(key), "-pubout"]), type)
        }
        // Raw bytes that begin as a structure does.
        for (identifier, type) in [(UInt8(0x6E), "X25519"), (0x70, "Ed25519")] {
            expectRefusal(
                [0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, identifier, 0x03, 0x21, 0x00, 0x30]
                    + [UInt8](repeating: 0x11, count: 31), type)
        }
    }

    @Test("All sample keys exist, and an unusual key size works, too")
    func samples() throws {
        #expect(SampleKeys.rsa.count == 5 && SampleKeys.curves.count == 5)
        let odd = try SoftwareKey.generate(KeyKind(.rsa, bits: 2056))
        #expect(odd.kind.blockLength == 257)
        #expect(
            try odd.publicKey.isSignature(
                odd.signature(of: [1], .rsaSignature(.pss(.message(.sha512)))), of: [1],
                .rsaSignature(.pss(.message(.sha512)))))
        #expect(
            try odd.decrypted(
                odd.publicKey.encrypted([5], .rsaEncryption(.oaep(.sha512))), .rsaEncryption(.oaep(.sha512))) == [5])
    }

    @Test("A file that would need hours of work is refused at once, with its own error")
    func expensive() throws {
        let openssl = try OpenSSL()
        let key = try openssl.file(.privateKey(try #require(SampleKeys.p256)))
        var files: [[UInt8]] = []
        for words in [["-iter", "5000001"], ["-v1", "PBE-SHA1-3DES"]] {
            files.append(
                try openssl.output(["pkcs8", "-topk8", "-in", key, "-passout", "pass:x", "-outform", "DER"] + words))
        }
        let started = ThreadTime.now
        for file in files {
            #expect(
                status { () throws(KeychainError) in
                    _ = try KeyFile.read(file, passphrase: SharedSecret(copying: "x".utf8))
                } == -4)
        }
        // Numbers that are longer than the modulus allows.
        let small = try #require(SampleKeys.rsa1024).external().bytes
        guard let numbers = small.withUnsafeBytes({ DERNumbers.all(9, in: $0).map { $0.map { Array($0) } } }) else {
            return
        }
        let huge = [UInt8](repeating: 0xFF, count: 1 << 20)
        for index in 3..<9 {
            var changed = numbers
            changed[index] = huge
            let der = encoded(changed)
            #expect(status { () throws(KeychainError) in _ = try SoftwareKey.read(der, .rsa) } == -50)
        }
        #expect(ThreadTime.now - started < 5)
    }

    private func encoded(_ numbers: [[UInt8]], _ buffers: [UnsafeRawBufferPointer] = []) -> [UInt8] {
        guard let first = numbers.first else { return DERNumbers.encoded(buffers).withUnsafeBytes { Array($0) } }
        return first.withUnsafeBytes { encoded(Array(numbers.dropFirst()), buffers + [$0]) }
    }

    @Test("Several keys of one file are read in order; a file without a key is refused")
    func several() throws {
        let keys = [SampleKeys.p256, SampleKeys.rsa2048].compactMap { $0 }
        let text =
            Array("some words\n".utf8) + (try keys.flatMap { try KeyFile.write(.privateKey($0), as: .pkcs8).bytes })
        #expect(try KeyFile.read(text).map(\.publicKey.external) == keys.map(\.publicKey.external))
        for text in [
            "", "words", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
            "-----BEGIN PRIVATE KEY-----\nAAAA\n",
            "-----BEGIN PRIVATE KEY-----\n!!!!\n-----END PRIVATE KEY-----\n",
        ] {
            #expect(status { () throws(KeychainError) in _ = try KeyFile.read(Array(text.utf8)) } == -50, "\(text)")
        }
        let old = try OpenSSL()
        let sealed = try old.output([
            "rsa", "-in", old.file(.privateKey(try #require(SampleKeys.rsa2048))), "-traditional", "-aes128",
            "-passout", "pass:x",
        ])
        #expect(status { () throws(KeychainError) in _ = try KeyFile.read(sealed) } == -4)
        let windows = sealed.flatMap { $0 == 0x0A ? [0x0D, 0x0A] : [$0] }
        #expect(status { () throws(KeychainError) in _ = try KeyFile.read(windows) } == -4)
    }

    @Test("Every line of a file of OpenSSH public keys is read, or the file is refused")
    func openSSHLines() throws {
        let keys = [SampleKeys.p256, SampleKeys.rsa2048, SampleKeys.p384].compactMap { $0?.publicKey }
        let lines = try keys.map {
            String(decoding: try KeyFile.write(.publicKey($0), as: .openSSH).bytes.dropLast(), as: UTF8.self)
        }
        for text in [
            lines.joined(separator: "\n"), lines.joined(separator: " a comment\r\n") + "\r\n",
            "# keys\n\n\(lines.joined(separator: "\n\n# more\n  "))\n",
        ] {
            #expect(try KeyFile.read(Array(text.utf8)).map(\.publicKey.external) == keys.map(\.external), "\(text)")
        }
        for (other, status) in [
            ("no key", OSStatusCode.param), ("ssh-rsa AAAA", .param), ("restrict \(lines[0])", .param),
            ("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5", .unimplemented),
        ] {
            let error = #expect(throws: KeychainError.self) {
                try KeyFile.read(Array("\(lines[0])\n\(other)\n".utf8))
            }
            #expect(error?.status == status, "\(other): \(String(describing: error))")
        }
    }

    @Test("A key is read after a byte order mark, with any line ends, and a damaged block is named with its line")
    func textForms() throws {
        let openssl = try OpenSSL()
        let mark = "\u{FEFF}"
        for key in [SampleKeys.p256, SampleKeys.rsa2048].compactMap(\.self) {
            let forms = try [KeyFile.Structure.pkcs8, .traditional, .openSSH].map {
                String(decoding: try KeyFile.write(.privateKey(key), as: $0).bytes, as: UTF8.self)
            }
            let line = try KeyFile.write(.publicKey(key.publicKey), as: .openSSH).bytes
            for text in forms + [String(decoding: line, as: UTF8.self)] {
                let lines = text.replacingOccurrences(of: "\n", with: "\r")
                for changed in ["\(mark)\(text)", "\(mark)\(lines)", text.replacingOccurrences(of: "\n", with: "\r\n")]
                {
                    let read = try KeyFile.read(Array(changed.utf8))
                    #expect(read.map(\.publicKey.external) == [key.publicKey.external], "\(changed.prefix(30))")
                }
            }
            let text = forms[0]
            #expect(try KeyFile.read(Array("\(text)\(mark)\(forms[1])".utf8)).count == 2)
            for (changed, line) in [
                ("text\n\(text.dropFirst())\(text)", 2),
                ("\(text)\(text.dropLast(3))", text.split(separator: "\n").count + 1),
                ("\n\n-----END PRIVATE KEY-----\n\(text)", 3),
            ] {
                let error = #expect(throws: KeychainError.self) { try KeyFile.read(Array(changed.utf8)) }
                #expect(
                    error?.status == .param && error?.problem.contains("line \(line)") == true,
                    "\(String(describing: error))")
            }
        }
        // openssl's own key in a file that an editor of Windows has saved.
        let written = try openssl.output(["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"])
        #expect(try KeyFile.read([0xEF, 0xBB, 0xBF] + written).count == 1)
    }

    // MARK: External representations

    @Test("T226: the external representation of a key gives an equal key that signs for the public half")
    func external() throws {
        for key in SampleKeys.rsa + SampleKeys.curves {
            let again = try SoftwareKey.read(key.external().bytes, key.kind.type)
            #expect(again.publicKey.external == key.publicKey.external)
            let algorithm: KeyAlgorithm =
                key.kind.type == .rsa ? .rsaSignature(.pkcs1(.message(.sha256))) : .ecdsa(.x962, .message(.sha256))
            #expect(
                try PublicKey.read(key.publicKey.external, key.kind.type).isSignature(
                    again.signature(of: [1], algorithm), of: [1], algorithm))
            let size = key.kind.blockLength
            if key.kind.type == .ellipticCurve {
                #expect(key.publicKey.external.count == 2 * size + 1)
                #expect(try key.external().count == 3 * size + 1)
            }
        }
    }

    @Test("Truncated, extended or changed bytes are refused, and do not trap")
    func mutated() throws {
        for key in [SampleKeys.rsa1024, SampleKeys.p256, SampleKeys.p521].compactMap({ $0 }) {
            let type = key.kind.type
            let (privateHalf, publicHalf) = (try key.external().bytes, key.publicKey.external)
            for length in 0..<privateHalf.count {
                #expect(
                    status { () throws(KeychainError) in
                        _ = try SoftwareKey.read(Array(privateHalf.prefix(length)), type)
                    } == -50)
            }
            for length in 0..<publicHalf.count {
                #expect(
                    status { () throws(KeychainError) in _ = try PublicKey.read(Array(publicHalf.prefix(length)), type)
                    } == -50)
            }
            #expect(status { () throws(KeychainError) in _ = try SoftwareKey.read(privateHalf + [0], type) } == -50)
            #expect(status { () throws(KeychainError) in _ = try PublicKey.read(publicHalf + [0], type) } == -50)
            #expect(status { () throws(KeychainError) in _ = try SoftwareKey.read(publicHalf, type) } == -50)
            #expect(status { () throws(KeychainError) in _ = try PublicKey.read(privateHalf, type) } == -50)
            for bit in stride(from: 0, to: 8 * privateHalf.count, by: 5) {
                var changed = privateHalf
                changed[bit / 8] ^= 1 << (bit % 8)
                // Every number is checked against the others.
                #expect(
                    status { () throws(KeychainError) in _ = try SoftwareKey.read(changed, type) } == -50, "bit \(bit)")
            }
            guard type == .ellipticCurve else { continue }
            for bit in 0..<8 * publicHalf.count {
                var changed = publicHalf
                changed[bit / 8] ^= 1 << (bit % 8)
                #expect(
                    status { () throws(KeychainError) in _ = try PublicKey.read(changed, type) } == -50, "bit \(bit)")
            }
        }
    }

    @Test("Invalid points are refused: infinity, zero, coordinates of the prime and above, compressed")
    func points() throws {
        let prime = [UInt8](hexadecimal: "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff")
        let key = try #require(SampleKeys.p256)
        let (x, y) = (Array(key.publicKey.external[1..<33]), Array(key.publicKey.external[33...]))
        let zero = [UInt8](repeating: 0, count: 32)
        for point in [
            [0], [4], [4] + zero + zero, [4] + prime + prime, [4] + prime + y, [4] + x + prime, [2] + x, [3] + x,
            [6] + x + y, [7] + x + y,
            [5] + x + y,
            [4] + [UInt8](repeating: 255, count: 64),
        ] {
            #expect(
                status { () throws(KeychainError) in _ = try PublicKey.read(point, .ellipticCurve) } == -50,
                "\(point.prefix(2))")
            let cipher = point + [UInt8](repeating: 1, count: 40)
            #expect(
                status { () throws(KeychainError) in
                    _ = try key.decrypted(cipher, .ecies(.standard, .sha256, derivesIV: false))
                }
                    == -50)
        }
        // Scalars that are zero, the order, and above.
        let order = [UInt8](hexadecimal: "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
        for scalar in [zero, order, [UInt8](repeating: 255, count: 32)] {
            #expect(
                status { () throws(KeychainError) in
                    _ = try SoftwareKey.read(key.publicKey.external + scalar, .ellipticCurve)
                } == -50)
        }
    }

    @Test(
        "Invalid RSA keys are refused: an exponent of 1 or even, an even modulus, unsupported sizes, negative or padded numbers"
    )
    func rsa() throws {
        func key(_ modulus: [UInt8], _ exponent: [UInt8]) -> [UInt8] {
            modulus.withUnsafeBytes { modulus in
                exponent.withUnsafeBytes { exponent in
                    DERNumbers.encoded([modulus, exponent]).withUnsafeBytes { Array($0) }
                }
            }
        }
        let good = try #require(SampleKeys.rsa2048).publicKey.external
        let modulus = Array(good.dropFirst(9).prefix(256))
        #expect(try PublicKey.read(key(modulus, [1, 0, 1]), .rsa).external == good)
        #expect(try PublicKey.read(key(modulus, [3]), .rsa).kind.bits == 2048)
        let even = modulus.dropLast() + [modulus[255] & 0xFE]
        for (modulus, exponent) in [
            (modulus, [1]), (modulus, [0]), (modulus, [2]), (modulus, [1, 0, 0]), (Array(even), [1, 0, 1]),
            (Array(modulus.prefix(62)) + [1], [1, 0, 1]),
            ([UInt8](repeating: 0xFF, count: 1025), [1, 0, 1]), ([], [1, 0, 1]),
            (modulus, [UInt8](repeating: 1, count: 9)),
        ] as [([UInt8], [UInt8])] {
            #expect(status { () throws(KeychainError) in _ = try PublicKey.read(key(modulus, exponent), .rsa) } == -50)
        }
        // The same numbers in other encodings: a length that is not minimal, an indefinite length,
        // another tag.
        let body = Array(good.dropFirst(4))
        for form in [
            [0x30, 0x83, 0, good[2], good[3]] + body, [0x30, 0x80] + body + [0, 0], [0x31] + good.dropFirst(),
        ] {
            #expect(status { () throws(KeychainError) in _ = try PublicKey.read(form, .rsa) } == -50)
        }
        #expect(status { () throws(KeychainError) in _ = try SoftwareKey.generate(KeyKind(.rsa, bits: 504)) } == -25311)
        #expect(
            status { () throws(KeychainError) in _ = try SoftwareKey.generate(KeyKind(.rsa, bits: 2047)) } == -25311)
        #expect(
            status { () throws(KeychainError) in _ = try SoftwareKey.generate(KeyKind(.rsa, bits: 8193)) } == -25311)
        #expect(
            status { () throws(KeychainError) in _ = try SoftwareKey.generate(KeyKind(.ellipticCurve, bits: 192)) }
                == -25311)
        #expect(
            status { () throws(KeychainError) in _ = try SoftwareKey.generate(KeyKind(.ellipticCurve, bits: 1_000_000))
            } == -25311)
    }
}
