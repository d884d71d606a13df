// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem
internal import SystemBus

/// The words of a prompt of the desktop. Texts of programs are printable and short.
struct DesktopPromptText {
    let properties: [String: BusVariant]

    init(_ question: SecretQuestion) {
        var texts =
            switch question.kind {
            case .passcode: Self.passcode(question, isNew: false)
            case .newPasscode: Self.passcode(question, isNew: true)
            case .consent(let subject): Self.consent(subject, question)
            }
        texts["caller-window"] = PrintableText(question.window, maxLength: 255).string
        var properties = texts.mapValues { BusVariant($0) }
        properties["password-new"] = BusVariant(question.kind == .newPasscode)
        properties["choice-chosen"] = BusVariant(false)
        self.properties = properties
    }

    private static func passcode(_ question: SecretQuestion, isNew: Bool) -> [String: String] {
        let label = PrintableText(question.label, maxLength: 80)
        let verb = isNew ? "change the passcode of" : "use"
        var warning = ""
        if let left = question.attemptsLeft {
            warning = left > 1 ? "The passcode is wrong. \(left) attempts are left." : "The passcode is wrong."
        }
        return [
            "title": isNew ? "New passcode" : "Unlock the keychain",
            "message": isNew ? "New passcode of the keychain" : "Passcode of the keychain",
            "description": "\(program(question)) wants to \(verb) the keychain “\(label)”.", "warning": warning,
            "continue-label": isNew ? "Change" : "Unlock", "cancel-label": "Cancel", "choice-label": "",
        ]
    }

    private static func consent(_ subject: ConsentSubject, _ question: SecretQuestion) -> [String: String] {
        let label = PrintableText(question.label, maxLength: 80)
        let notes = (subject.others.map { [$0] } ?? []) + ConsentSubject.claim
        return [
            "title": "Reading an item", "message": "Permission required",
            "description":
                "\(program(question)) wants to read the item “\(label)”. \(notes.joined(separator: " "))",
            "warning": ConsentSubject.cost, "continue-label": "Allow", "cancel-label": "Refuse",
            "choice-label": subject.canBeKept ? "Allow it from now on" : "",
        ]
    }

    private static func program(_ question: SecretQuestion) -> String {
        let program = PrintableText(question.program.executable, maxLength: 150)
        let process = question.program.process.map { " (process \($0.process))" } ?? ""
        return "“\(program)”\(process)"
    }
}
