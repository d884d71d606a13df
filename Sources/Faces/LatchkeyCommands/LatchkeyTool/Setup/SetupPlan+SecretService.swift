// SPDX-License-Identifier: Apache-2.0

/// The step `secret-service`: the keychain answers desktop programs, also where gnome-keyring does so now.
extension SetupPlan {
    var secretService: SetupStep {
        let name = "secret-service"
        guard let program = machine.companion(CompanionProgram.secretService.name) else {
            return .notApplicable(
                name, "latchkey-secret-service is not installed: make install, or the package latchkeyd")
        }
        let owner = machine.secretService()?.owner
        let other = owner.flatMap { $0.isLatchkey ? nil : $0 }
        let file = BusFile(machine)
        if file.isOwn, other == nil {
            return .done(
                name, owner.map { "\($0) answers desktop programs" } ?? "the session bus starts latchkey-secret-service")
        }
        // A service that was started by hand has no file; with a file, the bus starts it later.
        let isGNOME = other?.isGNOME ?? file.isGNOME
        guard isGNOME || other == nil && (file.isOwn || file.text == nil) else {
            return .manual(
                name,
                "\(other?.description ?? "another program") is the Secret Service: turn that off in its settings, and repeat the last command",
                "latchkey import --from kwallet", SecretServiceStatus.takeOver)
        }
        do throws(Occupied) {
            var actions = isGNOME ? importing(from: other) + masking() + [try hiding()] : []
            actions.append(file.isOwn ? nil : try starting(program, by: file))
            actions.append(other.map { .takeName(from: $0) })
            return SetupStep(
                name: name, state: .useful,
                detail: isGNOME
                    ? "gnome-keyring answers desktop programs: the keychain gets its items, and takes its place"
                    : "the session bus starts the keychain for desktop programs that ask for secrets",
                actions: actions.compactMap { $0 })
        } catch {
            return occupied(name, error.place, error.finding)
        }
    }

    /// A file that cannot be written, because there is something else.
    private struct Occupied: Error {
        let place: String
        let finding: String
    }

    private func importing(from other: SecretServiceStatus.Owner?) -> [SetupAction?] {
        let hasItems = other != nil || machine.has("\(machine.dataDirectory)/keyrings")
        return hasItems ? [.importing(from: "gnome-keyring")] : []
    }

    private func masking() -> [SetupAction?] {
        guard machine.hasUserManager else { return [] }
        let units = ["gnome-keyring-daemon.service", "gnome-keyring-daemon.socket"]
        return units.filter { machine.hasUserUnit($0) && !machine.isMasked($0) }.map { .mask(unit: $0) }
    }

    /// Desktop Application Autostart Specification: a file of the user with the same name hides that of the system.
    private func hiding() throws(Occupied) -> SetupAction? {
        let name = "autostart/gnome-keyring-secrets.desktop"
        guard machine.hasSystem("/etc/xdg/\(name)") else { return nil }
        let path = "\(machine.configDirectory)/\(name)"
        switch SetupTarget(path) {
        case .free: return .file(path: path, content: "[Desktop Entry]\nType=Application\nHidden=true\n")
        case .text(let text) where text.contains("Hidden=true"): return nil
        case .text: throw Occupied(place: path, finding: "starts gnome-keyring")
        case .occupied(let place, let finding): throw Occupied(place: place, finding: finding)
        }
    }

    private func starting(_ program: String, by file: BusFile) throws(Occupied) -> SetupAction {
        switch SetupTarget(file.path) {
        case .free:
            let lines = ["[D-BUS Service]", "Name=org.freedesktop.secrets", "Exec=\(program)"]
            return .file(path: file.path, content: lines.joined(separator: "\n") + "\n")
        case .text: throw Occupied(place: file.path, finding: "starts another program")
        case .occupied(let place, let finding): throw Occupied(place: place, finding: finding)
        }
    }
}

/// The file by which the session bus starts the Secret Service: that of the user, or the first one of the system.
private struct BusFile {
    /// The path of the user's file.
    let path: String
    /// nil if there is none.
    let text: String?

    init(_ machine: SetupMachine) {
        let name = "dbus-1/services/org.freedesktop.secrets.service"
        path = "\(machine.dataDirectory)/\(name)"
        let places = ["/usr/local/share", "/usr/share"].map { "\($0)/\(name)" }
        text = SetupTarget(path).text ?? places.lazy.compactMap(machine.systemText).first
    }

    var isOwn: Bool { text?.contains(CompanionProgram.secretService.name) == true }
    var isGNOME: Bool { text?.contains("gnome-keyring-daemon") == true }
}
