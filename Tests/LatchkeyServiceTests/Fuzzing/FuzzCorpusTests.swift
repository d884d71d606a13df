// SPDX-License-Identifier: Apache-2.0

import KeychainTesting
import Testing

/// The inputs of Fuzz/Corpus/callers and Fuzz/Corpus/requests: the seeds of the fuzzers, and their
/// finds.
@Suite("Fuzzer's corpora of the service")
struct FuzzCorpusTests {
    @Test("Every file about a caller is read without a trap, and names only well-formed identifiers")
    func callers() throws {
        var (named, others) = (0, 0)
        for (name, bytes) in try FuzzCorpus.inputs("callers") {
            let directory = try TemporaryDirectory()
            let outcome = CallerInput.read(bytes, in: directory.path)
            #expect(outcome.fault == nil, "\(name)")
            if outcome.isNamed { named += 1 } else { others += 1 }
        }
        #expect(named >= 6 && others >= 6, "\(named) named something, \(others) nothing")
    }

    @Test("Every sequence of requests to a filled keychain is answered or refused, and leaves the keychain healthy")
    func requests() throws {
        var (answers, refusals, evaluations) = (0, 0, 0)
        for (name, bytes) in try FuzzCorpus.inputs("requests") {
            let input = try RequestInput(bytes)
            let fault = try input.run()
            #expect(fault == nil, "\(name): \(fault ?? "")")
            answers += input.answers
            refusals += input.refusals
            evaluations += input.evaluations
        }
        #expect(
            answers > 100 && refusals > 100 && evaluations >= 15,
            "\(answers) answers, \(refusals) refusals, \(evaluations) authentications")
    }

    @Test("The corpus contains the scope with a name too short for its parts")
    func regression() throws {
        let callers = try FuzzCorpus.inputs("callers").map { String(decoding: $0.bytes.dropFirst(), as: UTF8.self) }
        #expect(callers.contains { $0.contains("app-flatpak-x.scope") })
    }
}
