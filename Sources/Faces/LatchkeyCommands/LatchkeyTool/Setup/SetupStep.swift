// SPDX-License-Identifier: Apache-2.0

/// One thing that a machine can have for the keychain.
struct SetupStep: Sendable, Equatable {
    enum State: String, Sendable {
        /// It is there.
        case done
        /// `--apply` does it.
        case useful
        /// A person must do it: it needs root, or changes files or settings of another program.
        case manual
        /// It has no use here.
        case notApplicable = "not-applicable"
    }

    /// The word that chooses the step.
    let name: String
    let state: State
    /// The use of the step, or why it has no use here.
    let detail: String
    /// The actions of `--apply`.
    var actions: [SetupAction] = []
    /// The commands that a person can type.
    var commands: [String] = []

    /// Whether the step takes the place of another Secret Service.
    var takesName: Bool {
        actions.contains { action in
            guard case .takeName = action else { return false }
            return true
        }
    }

    static func done(_ name: String, _ detail: String) -> SetupStep {
        SetupStep(name: name, state: .done, detail: detail)
    }

    static func notApplicable(_ name: String, _ detail: String) -> SetupStep {
        SetupStep(name: name, state: .notApplicable, detail: detail)
    }

    static func useful(_ name: String, _ detail: String, _ actions: SetupAction...) -> SetupStep {
        SetupStep(name: name, state: .useful, detail: detail, actions: actions)
    }

    static func manual(_ name: String, _ detail: String, _ commands: String...) -> SetupStep {
        SetupStep(name: name, state: .manual, detail: detail, commands: commands)
    }
}

/// A change that `latchkey setup --apply` makes, and can undo.
enum SetupAction: Sendable, Equatable {
    /// Creates a file that does not exist.
    case file(path: String, content: String)
    /// Enables and starts a unit of the user.
    case unit(String)
    /// Imports the items of another keyring, and compares them with the keychain.
    case importing(from: String)
    /// Stops units of the user, and keeps everything from starting them.
    case mask(units: [String])
    /// Ends gnome-keyring, if it has the name of the Secret Service then, lets the bus start latchkey-secret-service, and
    /// starts the other parts of gnome-keyring again.
    case takeName(restarting: [String])

    /// The action in words, as a command where it is one.
    var summary: String {
        switch self {
        case .file(let path, let content): "write \(path) (\(content.utf8.count) bytes)"
        case .unit(let name): "systemctl --user enable --now \(name)"
        case .importing(let keyring): "latchkey import --from \(keyring), and compare every item"
        case .mask(let units): "systemctl --user mask --now \(units.joined(separator: " "))"
        case .takeName(let parts):
            "end gnome-keyring-daemon, and let the session bus start latchkey-secret-service"
                + (parts.isEmpty ? "" : "; then start gnome-keyring again for \(parts.joined(separator: " and ")) only")
        }
    }

    /// The lines of a short file, so that they are seen before it is written.
    var shownLines: [Substring] {
        guard case .file(_, let content) = self else { return [] }
        let lines = content.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        return lines.count <= Self.maxShownLines ? Array(lines) : []
    }

    private static let maxShownLines = 12
}
