// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import KeychainModel
internal import LinuxSystem

/// The facts about the machine in a report: words of closed lists, and numbers. A custom name of a kernel or a
/// distribution could be that of a person or a company, so only known names are used.
struct MachineFacts: Encodable {
    var kernel: DiagnosticText
    var architecture: DiagnosticText
    var distribution: DiagnosticText
    var distributionVersion: DiagnosticText
    var library: DiagnosticText
    var desktop: DiagnosticText
    var shell: DiagnosticText
    var serviceManager: Bool
    var userServiceManager: Bool
    var sessionBus: Bool
    var container: Bool
    var readOnlyRoot: Bool
    var tpm: Bool

    static func ofThisMachine() -> MachineFacts {
        var names = utsname()
        uname(&names)
        let system = release(at: "/etc/os-release") ?? release(at: "/usr/lib/os-release") ?? [:]
        let runtime = SecureEnvironment.value(of: "XDG_RUNTIME_DIR")
        return MachineFacts(
            kernel: DiagnosticText(version: text(of: names.release)) ?? "other",
            architecture: DiagnosticText(text(of: names.machine), of: ["x86_64", "aarch64", "riscv64"]) ?? "other",
            distribution: system["ID"].flatMap { DiagnosticText($0, of: distributions) } ?? "other",
            distributionVersion: system["VERSION_ID"].flatMap { DiagnosticText(version: $0) } ?? "none",
            library: libraryVersion,
            desktop: desktop(SecureEnvironment.value(of: "XDG_CURRENT_DESKTOP")),
            shell: (SecureEnvironment.value(of: "SHELL")?.split(separator: "/").last).flatMap {
                DiagnosticText($0, of: shells)
            } ?? "other",
            serviceManager: exists("/run/systemd/system"),
            userServiceManager: runtime.map { exists("\($0)/systemd/private") } ?? false,
            sessionBus: SecureEnvironment.value(of: "DBUS_SESSION_BUS_ADDRESS") != nil
                || runtime.map { exists("\($0)/bus") } ?? false,
            container: ["/.dockerenv", "/run/.containerenv", "/run/systemd/container"].contains(where: exists),
            readOnlyRoot: (try? FileSystem.isReadOnly(at: "/")) ?? false,
            tpm: exists("/dev/tpmrm0"))
    }

    /// The version of the C library, if it is GNU's.
    private static var libraryVersion: DiagnosticText {
        var buffer = [CChar](repeating: 0, count: 64)
        // _CS_GNU_LIBC_VERSION (confstr(3)): `glibc 2.36`.
        guard confstr(2, &buffer, buffer.count) > 0 else { return "other" }
        let text = String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return text.split(separator: " ").last.flatMap { DiagnosticText(version: $0) } ?? "other"
    }

    private static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// The lines of os-release(5).
    private static func release(at path: String) -> [String: String]? {
        guard let bytes = try? BoundedFile.read(path, limit: 64 << 10) else { return nil }
        var values: [String: String] = [:]
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            let parts = line.split(separator: "=", maxSplits: 1)
            guard let name = parts.first, let value = parts.dropFirst().first else { continue }
            values[String(name)] = String(value).filter { $0 != "\"" && $0 != "'" }
        }
        return values
    }

    private static func desktop(_ value: String?) -> DiagnosticText {
        guard let value else { return "none" }
        let words = value.lowercased().split(separator: ":")
        return words.lazy.compactMap { DiagnosticText($0, of: desktops) }.first ?? "other"
    }

    /// The text in an array of characters of C.
    private static func text<Characters>(of characters: Characters) -> String {
        withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    private static let shells: [DiagnosticText] = ["bash", "zsh", "fish", "sh", "dash", "ksh", "nu"]
    private static let desktops: [DiagnosticText] = [
        "gnome", "kde", "xfce", "x-cinnamon", "mate", "lxqt", "lxde", "budgie", "sway", "hyprland", "cosmic", "unity",
        "pantheon",
    ]
    private static let distributions: [DiagnosticText] = [
        "debian", "ubuntu", "fedora", "arch", "alpine", "rhel", "centos", "rocky", "almalinux", "nixos", "linuxmint",
        "pop", "manjaro", "gentoo", "void", "raspbian", "amzn", "kali", "endeavouros", "elementary", "zorin", "guix",
        "ol", "sles", "opensuse-leap", "opensuse-tumbleweed",
    ]
}
