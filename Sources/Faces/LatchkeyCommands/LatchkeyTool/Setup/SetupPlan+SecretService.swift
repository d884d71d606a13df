// SPDX-License-Identifier: Apache-2.0

/// The step `secret-service`: the keychain answers desktop programs, also where gnome-keyring does so now.
extension SetupPlan {
    var secretService: SetupStep {
        let name = "secret-service"
        guard let program = machine.companion(CompanionProgram.secretService.name) else {
            return .notApplicable(
                name, "latchkey-secret-service is not installed: make install, or the package latchkeyd")
        }
        let status = machine.secretService()
        if let error = status?.error {
            return .manual(name, "the session bus was not asked: \(error)", "latchkey status")
        }
        let owner = status?.owner
        let other = owner.flatMap { $0.isLatchkey ? nil : $0 }
        let file = BusFile(machine, program: program)
        if file.isOwn, other == nil {
            return .done(
                name,
                owner.map { "\($0) answers desktop programs" } ?? "the session bus starts latchkey-secret-service")
        }
        // A service that was started by hand has no file; with a file, the bus starts it later.
        let isGNOME = other?.isGNOME ?? file.isGNOME
        guard isGNOME || other == nil && (file.isOwn || file.text == nil || file.isOutdated) else {
            return otherKeyring(other)
        }
        guard !isGNOME || named.contains(name) else {
            return .manual(
                name,
                "gnome-keyring answers desktop programs; the command imports its items, and takes its place",
                SecretServiceStatus.takeOver)
        }
        if isGNOME, let variable = machine.redirections.first {
            return .manual(
                name, "\(variable) is set here, and not where the session bus starts the Secret Service",
                "env -u \(variable) \(SecretServiceStatus.takeOver)")
        }
        do throws(Occupied) {
            var actions: [SetupAction] = []
            // Of latchkey-secret-service, nothing is imported.
            if isGNOME, owner?.isLatchkey != true { actions += importing(isRunning: other != nil) }
            if isGNOME { actions += masking() + (try hiding()) }
            if !file.isOwn { actions.append(try starting(program, by: file)) }
            if isGNOME { actions.append(.takeName(restarting: otherParts)) }
            return SetupStep(
                name: name, state: .useful,
                detail: isGNOME
                    ? "gnome-keyring answers desktop programs: the keychain gets its items, and takes its place"
                    : "the session bus starts the keychain for desktop programs that ask for secrets",
                actions: actions)
        } catch {
            return occupied(name, error.place, error.finding)
        }
    }

    private func otherKeyring(_ other: SecretServiceStatus.Owner?) -> SetupStep {
        let isKWallet = other?.program.map { $0.contains("kwallet") || $0.hasSuffix("/ksecretd") } ?? false
        return .manual(
            "secret-service",
            "\(other?.description ?? "another program") is the Secret Service: turn that off in its settings, and repeat the last command",
            "latchkey import --from \(isKWallet ? "kwallet" : "gnome-keyring")", SecretServiceStatus.takeOver)
    }

    /// The other parts of gnome-keyring that run, by their sockets.
    private var otherParts: [String] {
        guard let directory = machine.runtimeDirectory else { return [] }
        return ["ssh", "pkcs11"].filter { machine.has("\(directory)/keyring/\($0)") }
    }

    /// A file that cannot be written, because there is something else.
    private struct Occupied: Error {
        let place: String
        let finding: String
    }

    private func importing(isRunning: Bool) -> [SetupAction] {
        let hasItems = isRunning || machine.has("\(machine.dataDirectory)/keyrings")
        return hasItems ? [.importing(from: "gnome-keyring")] : []
    }

    private func masking() -> [SetupAction] {
        guard machine.hasUserManager else { return [] }
        // The socket first: otherwise it would start the service again.
        let units = ["gnome-keyring-daemon.socket", "gnome-keyring-daemon.service"].filter {
            machine.hasUserUnit($0) && !machine.isMasked($0)
        }
        return units.isEmpty ? [] : [.mask(units: units)]
    }

    /// Returns files of the user that hide the start of gnome-keyring by the desktop and the bus: Desktop Application
    /// Autostart Specification, and D-Bus Specification, "Message Bus Starting Services".
    private func hiding() throws(Occupied) -> [SetupAction] {
        let autostart = "autostart/gnome-keyring-secrets.desktop"
        var actions: [SetupAction] = []
        if machine.hasSystem("/etc/xdg/\(autostart)") {
            let content = "[Desktop Entry]\nType=Application\nHidden=true\n"
            let path = "\(machine.configDirectory)/\(autostart)"
            try hide(by: path, content, where: ["Hidden=true", "X-GNOME-Autostart-enabled=false"], &actions)
        }
        // They start the same daemon, and it then waits for the name of the Secret Service.
        for service in ["org.gnome.keyring", "org.freedesktop.impl.portal.Secret"] {
            let file = "dbus-1/services/\(service).service"
            guard machine.systemText(of: "/usr/share/\(file)")?.contains("gnome-keyring-daemon") == true else {
                continue
            }
            let content = "[D-BUS Service]\nName=\(service)\nExec=/bin/false\n"
            try hide(by: "\(machine.dataDirectory)/\(file)", content, where: ["Exec=/bin/false"], &actions)
        }
        return actions
    }

    private func hide(
        by path: String, _ content: String, where lines: [String], _ actions: inout [SetupAction]
    ) throws(Occupied) {
        switch SetupTarget(path) {
        case .free: actions.append(.file(path: path, content: content))
        case .text(let text) where lines.contains(where: text.contains): return
        case .text: throw Occupied(place: path, finding: "starts gnome-keyring")
        case .occupied(let place, let finding): throw Occupied(place: place, finding: finding)
        }
    }

    private func starting(_ program: String, by file: BusFile) throws(Occupied) -> SetupAction {
        switch SetupTarget(file.path) {
        case .free:
            let lines = ["[D-BUS Service]", "Name=org.freedesktop.secrets", "Exec=\(program)"]
            return .file(path: file.path, content: lines.joined(separator: "\n") + "\n")
        case .text:
            throw Occupied(
                place: file.path,
                finding: file.isOutdated ? "starts a program that is not here" : "starts another program")
        case .occupied(let place, let finding): throw Occupied(place: place, finding: finding)
        }
    }
}

/// The file that lets the session bus start the Secret Service: that of the user, or the first one of the system.
private struct BusFile {
    /// The path of the user's file.
    let path: String
    /// nil if there is none.
    let text: String?
    /// Whether it starts latchkey-secret-service of this installation, or of one that exists.
    let isOwn: Bool

    init(_ machine: SetupMachine, program: String) {
        let name = "dbus-1/services/org.freedesktop.secrets.service"
        path = "\(machine.dataDirectory)/\(name)"
        let places = ["/usr/local/share", "/usr/share"].map { "\($0)/\(name)" }
        text = SetupTarget(path).text ?? places.lazy.compactMap(machine.systemText).first
        let lines = text?.split(separator: "\n") ?? []
        let started = lines.first { $0.hasPrefix("Exec=") }?.dropFirst("Exec=".count).split(separator: " ").first
        isOwn =
            started.map { file in
                file.split(separator: "/").last.map(String.init) == CompanionProgram.secretService.name
                    && (file == program || machine.hasSystem(String(file)))
            } ?? false
    }

    /// Whether it starts latchkey-secret-service of an installation that is gone.
    var isOutdated: Bool { !isOwn && text?.contains(CompanionProgram.secretService.name) == true }
    var isGNOME: Bool { text?.contains("gnome-keyring-daemon") == true }
}
