// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import Testing

/// `make install` in a copy of the repository without sources, with a fake `swift`.
@Suite("Installation", .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/make"), "needs make"))
struct InstallTests {
    @Test("make install creates every file; the administrator's configuration is not replaced")
    func install() throws {
        let tree = try InstallationTree()
        try tree.write("the administrator's\n", to: "root/etc/latchkey/daemon.conf")
        let outcome = try tree.install()
        #expect(outcome.status == 0, "\(outcome)")
        let installed = try tree.files(below: "root")
        #expect(
            installed.isSuperset(of: [
                "usr/bin/latchkey", "usr/bin/security", "usr/libexec/latchkey/latchkeyd", "etc/latchkey/client.conf",
                "usr/libexec/latchkey/latchkey-biometry-digest", "usr/bin/latchkey-tls", "usr/bin/latchkey-lint",
                "usr/libexec/latchkey/latchkey-secret-service",
                "usr/share/dbus-1/services/org.freedesktop.secrets.service",
                "usr/share/dbus-1/services/org.freedesktop.impl.portal.desktop.latchkey.service",
                "usr/share/xdg-desktop-portal/portals/latchkey.portal",
                "usr/lib/systemd/user/latchkey-secret-service.service",
                "usr/lib/systemd/system/latchkey-biometry-digest.socket",
                "usr/lib/systemd/system/latchkey-biometry-digest@.service",
                "usr/lib/systemd/system/latchkeyd.service", "usr/lib/systemd/system/latchkeyd.socket",
                "usr/lib/systemd/user/latchkeyd.service", "usr/lib/systemd/user/latchkeyd.socket",
                "usr/lib/systemd/user/latchkey-agent.service", "usr/lib/sysusers.d/latchkey.conf",
                "usr/lib/security/pam_latchkey.so", "usr/share/pam-configs/latchkey", "etc/apparmor.d/latchkeyd-system",
            ]), "\(installed.sorted())")
        #expect(try tree.text("root/etc/latchkey/daemon.conf") == "the administrator's\n")
        let builds = try tree.text("swift.log")
        for name in Self.programs {
            #expect(builds.contains("--product \(name)\n"), "\(builds)")
        }
    }

    @Test("make install leaves an AppArmor profile in the mode that the administrator has chosen")
    func enforcedProfile() throws {
        let tree = try InstallationTree()
        let profile = "root/etc/apparmor.d/latchkeyd-system"
        #expect(try tree.install().status == 0)
        let reporting = try tree.text(profile)
        let enforced = reporting.replacing("flags=(complain, ", with: "flags=(")
        #expect(enforced != reporting)
        try tree.write(enforced, to: profile)
        #expect(try tree.install().status == 0)
        #expect(try tree.text(profile) == enforced)
        // The mode alone is no change that would keep the file.
        #expect(try tree.make("uninstall").status == 0)
        #expect(try tree.plainFiles(below: "root") == [])
    }

    @Test("make uninstall removes every file that make install has created, and no other file")
    func uninstall() throws {
        let tree = try InstallationTree()
        let foreign = [
            "usr/bin/openssl", "usr/lib/systemd/user/other.service", "usr/lib/security/pam_unix.so",
            "usr/share/dbus-1/services/org.freedesktop.Notifications.service", "usr/share/pam-configs/unix",
            "usr/share/man/man1/security.1", "usr/share/bash-completion/completions/security",
        ]
        for file in foreign { try tree.write("another program's\n", to: "root/\(file)") }
        #expect(try tree.install().status == 0)
        // The documents that install-documents makes from the real programs.
        for file in Self.documents { try tree.write("latchkey(1)\n", to: "root/\(file)") }
        let outcome = try tree.make("uninstall")
        #expect(outcome.status == 0, "\(outcome)")
        #expect(try tree.plainFiles(below: "root") == Set(foreign))
        #expect(try !tree.files(below: "root").contains("etc/latchkey"))
        // There is nothing to do the second time.
        #expect(try tree.make("uninstall").status == 0)
        #expect(try tree.plainFiles(below: "root") == Set(foreign))
    }

    @Test("make uninstall keeps changed configuration, and files that another program has put in the same place")
    func uninstallKeeps() throws {
        let tree = try InstallationTree()
        #expect(try tree.install().status == 0)
        let kept = [
            "etc/latchkey/client.conf", "usr/bin/security", "usr/share/dbus-1/services/org.freedesktop.secrets.service",
        ]
        for file in kept {
            try FileManager.default.removeItem(atPath: "\(tree.path)/root/\(file)")
            try tree.write("the administrator's\n", to: "root/\(file)")
        }
        let outcome = try tree.make("uninstall")
        #expect(outcome.status == 0 && outcome.printed.contains("kept, because it was changed"), "\(outcome)")
        #expect(try tree.plainFiles(below: "root") == Set(kept))
    }

    private static let documents = [
        "usr/share/man/man1/latchkey.1", "usr/share/man/man1/latchkey-keys.1", "usr/share/man/man8/latchkeyd.8",
        "usr/share/man/man5/latchkey-files.5", "usr/share/bash-completion/completions/latchkey",
        "usr/share/zsh/vendor-completions/_latchkey", "usr/share/zsh/vendor-completions/_security",
        "usr/share/fish/vendor_completions.d/security.fish",
    ]

    @Test("make install does not replace another program that is called security")
    func foreignSecurity() throws {
        let tree = try InstallationTree()
        try tree.write("another program's\n", to: "root/usr/bin/security")
        let outcome = try tree.install()
        #expect(outcome.status != 0 && outcome.printed.contains("is another program"), "\(outcome)")
        #expect(try tree.text("root/usr/bin/security") == "another program's\n")
        #expect(try tree.plainFiles(below: "root") == ["usr/bin/security"])
    }

    static let programs = ["latchkey", "latchkeyd", "latchkey-tls", "latchkey-lint"]

    @Test(
        "make install fails if any one of its files cannot be installed",
        arguments: [
            "bin/latchkey", "latchkey/latchkeyd", "latchkey/latchkey-biometry-digest", "bin/latchkey-tls",
            "bin/latchkey-lint",
            "latchkey/latchkey-secret-service",
            "services/org.freedesktop.secrets.service",
            "services/org.freedesktop.impl.portal.desktop.latchkey.service", "portals/latchkey.portal",
            "user/latchkey-secret-service.service",
            "system/latchkey-biometry-digest.socket", "system/latchkey-biometry-digest@.service",
            "system/latchkeyd.service", "system/latchkeyd.socket",
            "user/latchkeyd.service", "user/latchkeyd.socket", "user/latchkey-agent.service",
            "sysusers.d/latchkey.conf", "latchkey/client.conf", "latchkey/daemon.conf", "security/pam_latchkey.so",
            "pam-configs/latchkey", "apparmor.d/latchkeyd-system",
        ])
    func failure(_ file: String) throws {
        let outcome = try InstallationTree(failingAt: file).install()
        #expect(outcome.status != 0, "\(outcome)")
    }

    @Test("make install fails if a file to be installed is missing", arguments: ["client.conf", "daemon.conf"])
    func missing(_ file: String) throws {
        let tree = try InstallationTree()
        try FileManager.default.removeItem(atPath: "\(tree.path)/Packaging/\(file)")
        #expect(try tree.install().status != 0)
    }
}

/// A directory with the makefiles, the folder Packaging and fake programs.
private struct InstallationTree {
    private let directory: TemporaryDirectory

    var path: String { directory.path }

    /// - Parameter end: the end of the path that the fakes of `install` and `ln` refuse; nil for none.
    init(failingAt end: String? = nil) throws {
        directory = try TemporaryDirectory()
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized
        // FileManager would keep the owner (maybe another user).
        let sources = ["Makefile", "Packaging", "PAM"].map { root.appending(path: $0).path }
        let copy = try SpawnedProcess(
            ["/bin/cp", "-R"] + sources + [path], environment: [:], output: "\(path)/output")
        try #require(copy.awaitExit() == 0)
        for name in ["build.mk", "check.mk", "measure.mk", "demonstrate.mk", "build/products"] {
            let file = "Scripts/\(name)"
            try write(String(contentsOf: root.appending(path: file), encoding: .utf8), to: file)
        }
        let script = "\(path)/Scripts/build/products"
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: script)
        for name in InstallTests.programs {
            try write("a program\n", to: "built/\(name)")
        }
        // Answers every call with the directory of the built programs.
        try writeProgram("swift", "echo \"$@\" >> '\(path)/swift.log'\necho '\(path)/built'")
        // A text cannot be stripped (-s).
        let refusal = end.map { "for last; do :; done; case $last in */\($0)) exit 1;; esac\n" } ?? ""
        try writeProgram("install", "\(refusal)[ \"$1\" != -s ] || shift\nexec /usr/bin/install \"$@\"")
        try writeProgram("ln", "\(refusal)exec /usr/bin/ln \"$@\"")
    }

    func install() throws -> (status: Int32, printed: String) { try make("install") }

    func make(_ target: String) throws -> (status: Int32, printed: String) {
        let output = "\(path)/output"
        let places = ["DESTDIR=\(path)/root", "PREFIX=/usr", "PAM_DIR=/usr/lib/security", "WITHOUT_DOCUMENTS=1"]
        let process = try SpawnedProcess(
            ["/usr/bin/make", "-C", path, target] + places,
            environment: ["PATH": "\(path)/programs:/usr/bin:/bin"], output: output)
        return (process.awaitExit(), try String(contentsOfFile: output, encoding: .utf8))
    }

    func write(_ text: String, to file: String) throws {
        let url = URL(filePath: "\(path)/\(file)")
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    func text(_ file: String) throws -> String { try String(contentsOfFile: "\(path)/\(file)", encoding: .utf8) }

    func files(below folder: String) throws -> Set<String> {
        Set(try FileManager.default.subpathsOfDirectory(atPath: "\(path)/\(folder)"))
    }

    /// The files and links, without directories.
    func plainFiles(below folder: String) throws -> Set<String> {
        try files(below: folder).filter { name in
            let kind = try FileManager.default.attributesOfItem(atPath: "\(path)/\(folder)/\(name)")[.type]
            return kind as? FileAttributeType != .typeDirectory
        }
    }

    /// The file is written by another process: a child that another test starts meanwhile could
    /// inherit its descriptor, and a file that is open for writing cannot be executed.
    private func writeProgram(_ name: String, _ lines: String) throws {
        try write("#!/bin/sh\n\(lines)\n", to: "texts/\(name)")
        try FileManager.default.createDirectory(atPath: "\(path)/programs", withIntermediateDirectories: true)
        let copy = try SpawnedProcess(
            ["/usr/bin/install", "-m", "755", "\(path)/texts/\(name)", "\(path)/programs/\(name)"],
            environment: [:], output: "\(path)/copied")
        #expect(copy.awaitExit() == 0)
    }
}
