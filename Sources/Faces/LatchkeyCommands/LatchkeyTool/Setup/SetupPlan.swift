// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Glibc

/// The steps for a machine.
struct SetupPlan {
    let machine: SetupMachine
    /// The steps that were named on the command line.
    var named: Set<String> = []

    /// Every step, in the order of display and of execution.
    var steps: [SetupStep] {
        [completions, daemon, agent, secretService, keyrings, login, pinentry, tpm, git, docker]
    }

    static let names = [
        "completions", "daemon", "agent", "secret-service", "import", "login", "pinentry", "tpm", "git", "docker",
    ]

    // MARK: The shell

    private var completions: SetupStep {
        let name = "completions"
        switch machine.shell {
        case "bash"?:
            return completionFile(
                .bash, at: "\(machine.dataDirectory)/bash-completion/completions/latchkey",
                system: ["/usr/share/bash-completion/completions/latchkey"])
        case "fish"?:
            return completionFile(
                .fish, at: "\(machine.configDirectory)/fish/completions/latchkey.fish",
                system: ["/usr/share/fish/vendor_completions.d/latchkey.fish"])
        case "zsh"?:
            let places = ["/usr/local/share/zsh/site-functions", "/usr/share/zsh/vendor-completions"].map {
                "\($0)/_latchkey"
            }
            if let place = machine.firstSystem(of: places) { return .done(name, "zsh completes latchkey: \(place)") }
            return .manual(
                name, "zsh has no directory of a user for completions; this one is of all users",
                "latchkey --generate-completion-script zsh | sudo tee \(places[0]) > /dev/null")
        default:
            return .notApplicable(name, "there are completions for bash, zsh and fish; the shell is another one")
        }
    }

    private func completionFile(_ shell: CompletionShell, at path: String, system: [String]) -> SetupStep {
        let name = "completions"
        // With one line end at the end, as `latchkey --generate-completion-script` prints it.
        var content = CompletionScript.withListedCommands(LatchkeyCommand.completionScript(for: shell))
        if !content.hasSuffix("\n") { content += "\n" }
        if let place = machine.firstSystem(of: system) {
            return .done(name, "\(shell.rawValue) completes latchkey: \(place)")
        }
        switch SetupTarget(path) {
        case .free:
            return .useful(
                name, "\(shell.rawValue) completes the commands of latchkey", .file(path: path, content: content))
        case .text(content):
            return .done(name, "\(shell.rawValue) completes latchkey: \(path)")
        case .text:
            return .manual(
                name, "\(path) is of another version, or another program",
                "latchkey --generate-completion-script \(shell.rawValue) > '\(path)'")
        case .occupied(let place, let finding):
            return occupied(name, place, finding)
        }
    }

    /// Returns a step with a file that cannot be written, because there is something else at its path.
    func occupied(_ name: String, _ place: String, _ finding: String) -> SetupStep {
        .manual(
            name, "its file cannot be written: \(place) \(finding)", "mv '\(place)' '\(place).old'",
            "latchkey setup --apply \(name)")
    }

    // MARK: Daemons

    private var daemon: SetupStep {
        let (name, unit) = ("daemon", "latchkeyd.socket")
        if machine.hasSystemDaemon { return .notApplicable(name, "the machine's latchkeyd keeps the keychains") }
        if machine.enables(unit, by: "sockets.target") { return .done(name, "\(unit) is enabled") }
        guard machine.hasUserManager else {
            return .notApplicable(
                name, "no systemd manager runs for this user; the commands that unlock start latchkeyd by themselves")
        }
        guard machine.hasUserUnit(unit) else {
            return .notApplicable(name, "\(unit) is not installed: make install, or the package latchkeyd")
        }
        return .useful(
            name,
            "one keychain, one lock and one log for all programs; from then on, they open it only through latchkeyd",
            .unit(unit))
    }

    private var agent: SetupStep {
        let (name, unit) = ("agent", "latchkey-agent.service")
        guard machine.hasSystemDaemon else {
            return .notApplicable(name, "only the machine's latchkeyd needs an agent, and it does not run")
        }
        if machine.enables(unit, by: "default.target") { return .done(name, "\(unit) is enabled") }
        guard machine.hasUserManager, machine.hasUserUnit(unit) else {
            return .manual(
                name, "no systemd manager runs for this user, or \(unit) is not installed", "latchkey agent &")
        }
        return .useful(name, "asks for the passcode in this session, for the machine's latchkeyd", .unit(unit))
    }

    // MARK: Desktop programs

    private var keyrings: SetupStep {
        let name = "import"
        let directories = [
            ("gnome-keyring", "\(machine.dataDirectory)/keyrings"), ("kwallet", "\(machine.dataDirectory)/kwalletd"),
        ]
        let found = directories.filter { machine.has($0.1) }.map(\.0)
        guard !found.isEmpty else { return .notApplicable(name, "no other keyring has stored anything here") }
        return SetupStep(
            name: name, state: .manual,
            detail: "another keyring has stored secrets; an import adds them, and deletes nothing",
            commands: found.map { "latchkey import --from \($0) --dry-run" })
    }

    // MARK: Login, and the person

    private var login: SetupStep {
        let name = "login"
        let profile = "/usr/share/pam-configs/latchkey"
        let files = ["common-auth", "system-auth", "system-login", "login"].map { "/etc/pam.d/\($0)" }
        let isUsed = files.contains { machine.systemText(of: $0)?.contains("pam_latchkey") == true }
        if isUsed { return .done(name, "pam_latchkey is in the login") }
        guard machine.hasSystem(profile) else {
            return .notApplicable(name, "pam_latchkey is not installed, or this system has no pam-auth-update")
        }
        return .manual(
            name, "a login unlocks a keychain with the login password as its passcode; this needs root",
            "sudo pam-auth-update --enable latchkey")
    }

    private var pinentry: SetupStep {
        let name = "pinentry"
        let programs = [
            "pinentry-gnome3", "pinentry-qt", "pinentry-gtk-2", "pinentry-curses", "pinentry-tty", "pinentry",
        ]
        if let program = programs.lazy.compactMap(machine.program).first {
            return .done(name, "\(program) can ask for the passcode")
        }
        return .manual(
            name, "no pinentry is installed, so that you cannot be asked for items with an access control",
            "sudo apt install \(machine.hasDisplay ? "pinentry-gnome3" : "pinentry-curses")")
    }

    private var tpm: SetupStep {
        let (name, device) = ("tpm", "/dev/tpmrm0")
        guard machine.hasSystem(device) else { return .notApplicable(name, "this machine has no TPM 2.0") }
        if access(machine.root + device, R_OK | W_OK) == 0 {
            return .done(name, "this user can use the TPM; latchkey root tpm moves the device key there")
        }
        guard let group = machine.systemGroup(thatUses: device) else {
            return .manual(
                name, "only root can use the TPM; on Debian, tpm-udev gives it to the group tss",
                "sudo apt install tpm-udev")
        }
        return .manual(
            name,
            "only the group \(group) can use the TPM; a member can move the device key there (needs root, and a new login)",
            "sudo usermod -aG \(group) \"$USER\"")
    }

    // MARK: Other programs

    private var git: SetupStep {
        let name = "git"
        guard machine.program("git") != nil else { return .notApplicable(name, "git is not installed") }
        let helpers = ["/usr/lib/git-core/git-credential-libsecret", "/usr/libexec/git-core/git-credential-libsecret"]
        let texts = ["\(machine.home)/.gitconfig", "\(machine.configDirectory)/git/config"].compactMap(machine.text)
        if texts.contains(where: { $0.contains("credential-libsecret") }) {
            return .done(name, "git stores passwords with the Secret Service")
        }
        if texts.contains(where: { $0.contains("[credential") }) {
            return .notApplicable(name, "git keeps its other credential helper")
        }
        guard let helper = machine.firstSystem(of: helpers) else {
            return .notApplicable(name, "git-credential-libsecret is not installed")
        }
        return .manual(
            name, "git can store passwords in the keychain", "git config --global credential.helper \(helper)")
    }

    private var docker: SetupStep {
        let name = "docker"
        guard machine.program("docker") != nil else { return .notApplicable(name, "docker is not installed") }
        guard machine.program("docker-credential-secretservice") != nil else {
            return .notApplicable(name, "docker-credential-secretservice is not installed")
        }
        let path = "\(machine.home)/.docker/config.json"
        let text = machine.text(of: path) ?? ""
        if text.contains("\"credsStore\"") || text.contains("\"credHelpers\"") {
            return text.contains("\"secretservice\"")
                ? .done(name, "docker stores passwords with the Secret Service")
                : .notApplicable(name, "docker keeps its other credential helper")
        }
        return .manual(
            name, "docker can store passwords in the keychain: add this member to \(path)",
            "\"credsStore\": \"secretservice\"")
    }
}
