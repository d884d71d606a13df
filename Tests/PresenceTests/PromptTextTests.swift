// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import LinuxSystem
@testable import Presence
import Testing

/// The words of questions. Golden files contain the wording.
@Suite("Words of a question")
struct PromptTextTests {
    @Test("Each question has its words", arguments: samples.keys.sorted())
    func words(_ name: String) throws {
        let text = PromptText(try #require(Self.samples[name]))
        let fields = [
            ("title", text.title), ("description", text.description), ("error", text.error ?? ""),
            ("prompt", text.prompt), ("buttons", Self.buttons(text).joined(separator: ", ")),
        ]
        try expectGolden(fields.map { "[\($0)]\n\($1)\n" }.joined(), name)
    }

    private static func buttons(_ text: PromptText) -> [String] {
        let cancel = text.cancel ?? "Cancel"
        return text.isOnlyCancelled ? [cancel] : [text.accept] + (text.deny.map { [$0] } ?? []) + [cancel]
    }

    private static func request(
        _ factor: PresenceFactor, program: CallerIdentity = CallerIdentity(executable: "/usr/bin/git"),
        subject: PresenceRequest.Subject = .item(label: "github.com", identifier: "1"), reason: String = "",
        cancel: String? = nil, fallback: String? = nil, failure: PresenceRequest.PreviousFailure? = nil
    ) -> PresenceRequest {
        PresenceRequest(
            factor, user: 1000, program: program, subject: subject, reason: reason, cancelTitle: cancel,
            fallbackTitle: fallback, place: .none, previousFailure: failure)
    }

    private static func program(_ change: (inout CallerIdentity) -> Void) -> CallerIdentity {
        var program = CallerIdentity(
            executable: "/usr/bin/python3", process: CallerIdentity.ProcessIdentity(user: 1000, process: 4242))
        change(&program)
        return program
    }

    /// Returns the request with words of our own; only a confirmation has them.
    private static func withWords(_ request: PresenceRequest) -> PresenceRequest {
        var request = request
        request.words = ConfirmationWords(
            question: "Shall this be?", notes: ["It costs a browser its cookies.", "It proves nothing."],
            accept: "From now on", deny: "Only now")
        return request
    }

    private static let samples: [String: PresenceRequest] = [
        "passcode": request(.passcode, reason: "unlock your notes"),
        "passcode-keychain": request(.passcode, subject: .keychain),
        "passcode-wrong": request(.passcode, failure: .wrongSecret(attemptsLeft: 2)),
        "passcode-last": request(.passcode, failure: .wrongSecret(attemptsLeft: 1)),
        "password": request(.applicationPassword, failure: .wrongSecret(attemptsLeft: 2)),
        "password-new": request(.newApplicationPassword, failure: .entriesDiffer),
        "confirmation": request(.confirmation),
        "confirmation-words": withWords(request(.confirmation)),
        "passcode-without-words": withWords(request(.passcode)),
        "fingerprint": request(.fingerprint, cancel: "Not now"),
        "fingerprint-fallback": request(.fingerprint, fallback: "Use passcode", failure: .notRecognized),
        "hostile-buttons": request(
            .fingerprint, cancel: "\u{1B}[2J\nno_", fallback: String(repeating: "“Allow” 100% ", count: 99)),
        "security-key": request(.securityKey),
        "security-key-pin": request(.securityKeyPIN),
        "security-key-pin-wrong": request(.securityKeyPIN, failure: .wrongSecret(attemptsLeft: 2)),
        "claimed": request(.passcode, program: program { $0.declaredGroups = ["org.example.app", "other"] }),
        "attested": request(
            .passcode,
            program: program {
                $0.declaredGroups = ["org.example.claimed"]
                $0.attestedGroups = ["org.example.attested"]
            }),
        "sandbox": request(
            .passcode, program: program { $0.sandbox = .application(group: "flatpak.org.example.App") }),
        "sandbox-claimed": request(
            .passcode,
            program: program {
                $0.declaredGroups = ["org.example.app"]
                $0.sandbox = .application(group: "flatpak.org.example.App")
            }),
        "sandbox-unidentified": request(.passcode, program: program { $0.sandbox = .unidentified }),
        "longest": .longest(),
        "hostile": request(
            .passcode,
            program: program {
                $0.executable = "/tmp/\u{1B}[2Ja”\nProgram: “/usr/bin/passwd"
                $0.declaredGroups = ["x\u{202E}y\r\nIdentity: “root”, attested by the system"]
                $0.sandbox = .application(group: "a\u{7}\u{9B}31m\u{2028}b\u{200B}c")
            }, subject: .item(label: "“a” \"b\" 100%\n\nItem: c", identifier: "1"),
            reason: "please\u{85}\u{FEFF}\u{E0041}\0 type “yes”"),
    ]

    @Test(
        "Untrusted text adds no line, no invisible character and no quotation mark, in any length",
        arguments: [
            "\n", "\r\n", "\u{1B}[31m", "\u{9B}0m", "\u{202E}", "\u{2066}", "\u{200B}", "\u{0}", "\"", "”", "»", "%",
            "é",
            "\u{1F600}", "a\u{301}", "\u{10FFFF}", "\u{E000}",
        ])
    func untrusted(_ filler: String) {
        for count in [1, 2, 19, 59, 60, 61, 100, 149, 150, 151, 2000] {
            let plain = PromptText(.longest(filler: "a")).description.split(separator: "\n")
            let text = PromptText(.longest(filler: String(repeating: filler, count: count))).description
            let lines = text.split(separator: "\n", omittingEmptySubsequences: true)
            #expect(lines.count == plain.count)
            for line in lines.dropFirst() {
                #expect(line.unicodeScalars.allSatisfy(PrintableText.isPrintable), "\(line)")
                #expect(line.unicodeScalars.filter(\.properties.isQuotationMark).count { $0 != "'" } == 2, "\(line)")
            }
            #expect(AssuanCommand("SETDESC", text).line.count < AssuanCommand.maxLength)
        }
    }

    @Test("A long path keeps its beginning and its end")
    func path() {
        let path = "/home/alice/" + String(repeating: "deep/", count: 200) + "program"
        let text = ShortText(path, maxLength: 60, keepsEnd: true).string
        #expect(text == "/home/alice/deep/dee…ep/deep/deep/deep/deep/deep/deep/program")
        #expect(ShortText("/usr/bin/git", maxLength: 60, keepsEnd: true).string == "/usr/bin/git")
    }

    @Test("An escape is kept whole or left out", arguments: 1...19)
    func escapes(_ maxLength: Int) {
        let text = ShortText("ab\u{202E}cd\u{1B}ef\n", maxLength: maxLength).string
        let parts = ["a", "b", #"\u{202e}"#, "c", "d", #"\x1b"#, "e", "f", #"\n"#]
        let whole = parts.indices.map { parts[...$0].joined() + "…" } + ["…"]
        #expect(whole.contains(text), "\(text)")
    }
}
