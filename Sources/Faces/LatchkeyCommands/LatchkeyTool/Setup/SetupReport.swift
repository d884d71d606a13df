// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem

/// The steps, in the shape of the JSON of `latchkey setup`.
struct SetupReport: Encodable {
    private(set) var steps: [Step] = []

    struct Step: Encodable {
        var name: String
        /// `done`, `useful`, `manual` or `not-applicable`, before `--apply`.
        var state: String
        var detail: String
        var actions: [Action]
        var commands: [String]
        /// Whether `--apply` has done it.
        var applied: Bool
        /// Why `--apply` could not do it; absent if it could, or was not asked to.
        var error: String?
    }

    struct Action: Encodable {
        /// The file that is created; absent for a command.
        var file: String?
        var content: String?
        /// The unit that is enabled; absent for another action.
        var unit: String?
        /// The keyring of the imported items; absent for another action.
        var importedKeyring: String?
        /// The units that are masked; absent for another action.
        var maskedUnits: [String]?
        /// The parts of gnome-keyring that are started again after its end; absent for another action.
        var restarted: [String]?
    }

    /// - Parameter result: that of `--apply`; nil if the step was only shown.
    mutating func add(_ step: SetupStep, _ result: Result<Void, KeychainError>?) {
        let error = result?.error
        steps.append(
            Step(
                name: step.name, state: step.state.rawValue, detail: step.detail,
                actions: step.actions.map { Action($0) }, commands: step.commands,
                applied: result != nil && error == nil, error: error?.problem))
    }
}

extension Result<Void, KeychainError> {
    /// nil if it is a success.
    var error: KeychainError? {
        guard case .failure(let error) = self else { return nil }
        return error
    }
}

extension SetupReport.Action {
    init(_ action: SetupAction) {
        switch action {
        case .file(let path, let content): (file, self.content) = (path, content)
        case .unit(let name): unit = name
        case .importing(let keyring): importedKeyring = keyring
        case .mask(let units): maskedUnits = units
        case .takeName(let parts): restarted = parts
        }
    }
}

// MARK: - Text

extension SetupStep {
    /// The step as text: its state and detail, and indented the actions and the commands to type.
    var text: TerminalText {
        let word = state == .notApplicable ? "not applicable" : state == .manual ? "by hand" : state.rawValue
        var text: TerminalText = "\(word)\(TerminalText.spaces(16 - word.count))\(name): \(detail)\n"
        for action in actions {
            text += "                  \(action.summary)\n"
            for line in action.shownLines { text += "                    \(line)\n" }
        }
        for command in commands { text += "                  \(command)\n" }
        return text
    }
}
