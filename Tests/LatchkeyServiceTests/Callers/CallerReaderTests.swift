// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import KeychainTesting
@testable import LatchkeyService
import Testing

/// The identity of a caller, read from a /proc directory that the test writes.
@Suite("Callers")
struct CallerReaderTests {
    /// The files of a machine: processes, users, entitlements.
    struct FakeMachine {
        let directory: TemporaryDirectory
        var processes: String { "\(directory.path)/proc" }
        var rules: String { "\(directory.path)/entitlements.d" }

        init() throws {
            directory = try TemporaryDirectory()
            try FileManager.default.createDirectory(
                atPath: "\(directory.path)/entitlements.d", withIntermediateDirectories: false)
            let users = """
                root:x:0:0:root:/root:/bin/bash
                backup:x:34:34:backup:/var/backups:/usr/sbin/nologin
                odd:x:35:35:odd:/:/bin/sh
                alice:x:1000:1000:Alice:/home/alice:/bin/bash
                """
            try users.write(toFile: "\(directory.path)/passwd", atomically: true, encoding: .utf8)
        }

        func process(
            _ number: Int, executable: String? = nil, group: String? = nil, label: String? = nil, flatpak: String? = nil
        ) throws {
            let path = "\(processes)/\(number)"
            try FileManager.default.createDirectory(atPath: "\(path)/attr", withIntermediateDirectories: true)
            try FileManager.default.createDirectory(atPath: "\(path)/root", withIntermediateDirectories: true)
            if let executable {
                try FileManager.default.createSymbolicLink(atPath: "\(path)/exe", withDestinationPath: executable)
            }
            if let group { try "0::\(group)\n".write(toFile: "\(path)/cgroup", atomically: true, encoding: .utf8) }
            if let label { try "\(label)\n".write(toFile: "\(path)/attr/current", atomically: true, encoding: .utf8) }
            if let flatpak {
                try flatpak.write(toFile: "\(path)/root/.flatpak-info", atomically: true, encoding: .utf8)
            }
        }

        func rule(_ name: String, _ list: [String: Any]) throws {
            let data = try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0)
            let path = "\(rules)/\(name).plist"
            try data.write(to: URL(filePath: path))
            chmod(path, 0o644)
        }

        var entitlements: EntitlementsDirectory { EntitlementsDirectory(rules, owner: geteuid()) }

        func reader(command: String? = nil) -> CallerReader {
            CallerReader(
                commands: command.map { [$0] } ?? [], entitlements: entitlements, processes: processes,
                users: SystemUsers(path: "\(directory.path)/passwd"))
        }

        func identity(_ number: Int, user: UInt32, claim: CallerIdentity = CallerIdentity(executable: "claimed"))
            -> CallerIdentity
        {
            let reader = reader()
            return reader.identity(reader.read(user: user, process: Int32(number), claim: claim))
        }
    }

    @Test(
        "The executable comes from the kernel, with the groups that its property lists declare; the claim is then ignored"
    )
    func executable() throws {
        let machine = try FakeMachine()
        let program = "\(machine.directory.path)/program"
        try PropertyListSerialization.data(
            fromPropertyList: ["keychain-access-groups": ["G1"]], format: .xml, options: 0
        )
        .write(to: URL(filePath: "\(program).entitlements"))
        try machine.process(10, executable: program)
        let claim = CallerIdentity(executable: "/elsewhere", declaredGroups: ["G9"], isUserCommand: true)
        let identity = machine.identity(10, user: 1000, claim: claim)
        #expect(identity.executable == program)
        #expect(identity.declaredGroups == ["G1"])
        #expect(!identity.isUserCommand)
        #expect(identity.process == CallerIdentity.ProcessIdentity(user: 1000, process: 10))
    }

    @Test("If the kernel does not report the executable, the claim is used, and the report names its source")
    func claim() throws {
        let machine = try FakeMachine()
        try machine.process(10)
        let claim = CallerIdentity(executable: "/elsewhere", declaredGroups: ["G9"])
        #expect(machine.identity(10, user: 1000, claim: claim).declaredGroups == ["G9"])
        let reader = machine.reader()
        let facts = reader.facts(reader.read(user: 1000, process: 10, claim: claim), hasHandle: true)
        #expect(facts.first { $0.name == "executable" }?.source == "the program says so")
        #expect(facts.first { $0.name == "user" }?.grade == .attested)
        #expect(facts.filter { $0.grade == .attested }.count == 1)
    }

    @Test("The user's own command is recognized by its file")
    func command() throws {
        let machine = try FakeMachine()
        try machine.process(10, executable: "/usr/bin/latchkey")
        try machine.process(11, executable: "/tmp/latchkey")
        let reader = machine.reader(command: "/usr/bin/latchkey")
        for (process, isCommand) in [(Int32(10), true), (11, false)] {
            let reading = reader.read(user: 1000, process: process, claim: CallerIdentity(executable: "x"))
            #expect(reader.identity(reading).isUserCommand == isCommand)
        }
    }

    // MARK: Units and labels

    @Test(
        "A unit is attested only if the system manager runs it, and no login is possible as its user",
        arguments: [
            ("/system.slice/backup.service", 34, true), ("/system.slice/backup.service/child.service", 34, true),
            ("/system.slice/backup.service", 61200, true), ("/system.slice/backup.service", 1000, false),
            ("/system.slice/backup.service", 0, false), ("/system.slice/backup.service", 35, false),
            ("/system.slice/backup.service", 999, false),
            ("/user.slice/user-34.slice/user@34.service/app.slice/backup.service", 34, false),
            ("/system.slice/other.service", 34, false),
            ("/system.slice/other.service/backup.service", 34, false), ("/backup.service", 34, false),
        ] as [(String, UInt32, Bool)])
    func units(_ group: String, _ user: UInt32, _ isAttested: Bool) throws {
        let machine = try FakeMachine()
        try machine.rule(
            "backup", ["latchkey-subject": ["unit": "backup.service"], "keychain-access-groups": ["backup.keys"]])
        try machine.process(10, executable: "/usr/bin/tool", group: group)
        #expect(machine.identity(10, user: user).attestedGroups == (isAttested ? ["backup.keys"] : nil))
        #expect(machine.identity(10, user: user).grade == (isAttested ? .attested : .claimed))
    }

    @Test("A label is attested if the administrator's file declares it confined")
    func labels() throws {
        let machine = try FakeMachine()
        try machine.rule(
            "web",
            [
                "latchkey-subject": ["label": "web (enforce)", "label-is-confined": "yes"],
                "keychain-access-groups": ["web"],
            ])
        try machine.rule("loose", ["latchkey-subject": ["label": "loose"], "keychain-access-groups": ["loose"]])
        try machine.process(10, executable: "/usr/bin/a", label: "web (enforce)")
        try machine.process(11, executable: "/usr/bin/a", label: "web")
        try machine.process(12, executable: "/usr/bin/a", label: "loose")
        #expect(machine.identity(10, user: 1000).attestedGroups == ["web"])
        #expect(machine.identity(11, user: 1000).attestedGroups == nil)
        #expect(machine.identity(12, user: 1000).attestedGroups == nil)
        #expect(machine.entitlements.problems.count == 1)
        #expect(machine.entitlements.problems.first?.contains("label-is-confined") == true)
    }

    @Test(
        "A rule applies only if its whole subject matches; groups are in the order of the rules' file names, without duplicates"
    )
    func combinations() throws {
        let machine = try FakeMachine()
        try machine.rule("20-user", ["latchkey-subject": ["user": "1000"], "keychain-access-groups": ["B", "A"]])
        try machine.rule("10-first", ["latchkey-subject": ["user": "1000"], "application-identifier": "A"])
        try machine.rule(
            "30-both", ["latchkey-subject": ["user": "1000", "unit": "x.service"], "keychain-access-groups": ["C"]])
        try machine.process(10, executable: "/usr/bin/a", group: "/system.slice/x.service")
        #expect(machine.identity(10, user: 1000).attestedGroups == ["A", "B"])
        #expect(machine.identity(10, user: 1001).attestedGroups == nil)
    }

    // MARK: Sandboxes

    @Test(
        "Identifiers of Flatpak and snap only restrict",
        arguments: [
            ("[Application]\nname=org.example.App\n", nil, nil, "flatpak.org.example.App"),
            (
                "[Application]\nname=org.example.App\n", "/app.slice/app-flatpak-org.example.App-1.scope", nil,
                "flatpak.org.example.App"
            ),
            (nil, "/app.slice/app-flatpak-org.example.With\\x2dhyphen-1.scope", nil, "flatpak.org.example.With-hyphen"),
            (
                nil, "/a/app-flatpak-org.example.Outer-1.scope/app-flatpak-org.example.Inner-1.scope", nil,
                "flatpak.org.example.Outer"
            ),
            (
                nil, "/user.slice/user-1000.slice/user@1000.service/app.slice/app-flatpak-org.example.App-1234.scope",
                nil,
                "flatpak.org.example.App"
            ),
            (nil, nil, "snap.mail.client (enforce)", "snap.mail"),
            (nil, "/user.slice/user-1000.slice/user@1000.service/app.slice/snap.mail.client-1.scope", nil, "snap.mail"),
        ] as [(String?, String?, String?, String)])
    func sandboxes(_ flatpak: String?, _ group: String?, _ label: String?, _ expected: String) throws {
        let machine = try FakeMachine()
        try machine.process(10, executable: "/app/bin/app", group: group, label: label, flatpak: flatpak)
        var identity = machine.identity(10, user: 1000)
        #expect(identity.sandbox == .application(group: expected))
        identity.declaredGroups = ["G1"]
        let report = Authorizer.report(identity, facts: [])
        #expect(report.groups == [AccessGroup(expected, grade: .claimed)])
        identity.attestedGroups = ["A"]
        #expect(Authorizer.report(identity, facts: []).groups == [AccessGroup(expected, grade: .claimed)])
    }

    @Test(
        "A sandbox that does not identify its application, or names two, has no access group",
        arguments: [
            (nil, "/app.slice/app-flatpak-x.scope", nil), (nil, "/app-flatpak-.scope", nil),
            (nil, "/app-flatpak-org.a.B.scope", nil),
            (nil, "/app.slice/app-flatpak---.scope", nil), (nil, "/app-flatpak-a.b-1.scope", nil),
            (nil, "/app-flatpak-org.a.\u{301}-1.scope", nil),
            (nil, "/app-flatpak-org..b-1.scope", nil), (nil, "/snap..scope", nil), (nil, "/snap.a b.c.scope", nil),
            (nil, nil, "snap. (enforce)"),
            ("[Instance]\nname=x\n", nil, nil), ("[Application]\nname=\n", nil, nil),
            ("[Application]\nname=org.a.B\nname=org.a.C\n", nil, nil),
            ("[Application]\nname=org.a.B\n", "/app-flatpak-org.a.C-1.scope", nil),
            ("[Application]\nname=org.a.B\n", nil, "snap.a.b"),
            ("", nil, nil), (nil, "/app-flatpak-\(String(repeating: "a.", count: 200))b-1.scope", nil),
        ] as [(String?, String?, String?)])
    func unidentifiedSandboxes(_ flatpak: String?, _ group: String?, _ label: String?) throws {
        let machine = try FakeMachine()
        try machine.process(10, executable: "/app/bin/app", group: group, label: label, flatpak: flatpak)
        let identity = machine.identity(10, user: 1000)
        #expect(identity.sandbox == .unidentified)
        #expect(throws: KeychainError.self) { try Authorizer.authorize(identity) }
        #expect(Authorizer.report(identity, facts: []).groups.isEmpty)
    }

    @Test(
        "A process in its own namespace that forbids reading Flatpak's file counts as a sandbox of an unknown application"
    )
    func hiddenSandbox() throws {
        let machine = try FakeMachine()
        for (number, namespaces) in [(10, "NSpid:\t10\t2"), (11, "NSpid:\t11")] {
            try machine.process(number, executable: "/usr/bin/a")
            // A directory stands for a file that must not be read.
            try FileManager.default.createDirectory(
                atPath: "\(machine.processes)/\(number)/root/.flatpak-info", withIntermediateDirectories: false)
            try "Name:\ta\n\(namespaces)\n".write(
                toFile: "\(machine.processes)/\(number)/status", atomically: true, encoding: .utf8)
        }
        #expect(machine.identity(10, user: 1000).sandbox == .unidentified)
        #expect(machine.identity(11, user: 1000).sandbox == nil)
        // A file that is not text still exists; and a group below the sandbox's own group changes
        // nothing.
        try machine.process(12, executable: "/usr/bin/a", group: "/app.slice/app-flatpak-org.example.App-1.scope/inner")
        #expect(machine.identity(12, user: 1000).sandbox == .application(group: "flatpak.org.example.App"))
        try machine.process(13, executable: "/usr/bin/a")
        try Data([0xFF, 0xFE, 0x0A]).write(to: URL(filePath: "\(machine.processes)/13/root/.flatpak-info"))
        #expect(machine.identity(13, user: 1000).sandbox == .unidentified)
    }

    @Test("A user of any number with a login shell is not a service user")
    func loginUsers() throws {
        let machine = try FakeMachine()
        let path = "\(machine.directory.path)/passwd"
        try "strange:x:61200:61200::/home/strange:/bin/bash\n".write(toFile: path, atomically: true, encoding: .utf8)
        #expect(!SystemUsers(path: path).isService(61200))
        #expect(SystemUsers(path: path).isService(61201))
    }

    // MARK: Reserved prefixes

    @Test("A prefix that root has reserved for an executable is claimed by no other, in any way")
    func reserved() throws {
        let machine = try FakeMachine()
        let (app, other) = ("\(machine.directory.path)/app", "\(machine.directory.path)/other")
        for program in [app, other] {
            let list = ["keychain-access-groups": ["com.example.app.keys", "G1"]]
            try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0)
                .write(to: URL(filePath: "\(program).entitlements"))
        }
        try machine.process(10, executable: app)
        try machine.process(11, executable: other)
        try machine.process(12)
        try machine.process(13, executable: "/opt/app")
        try machine.process(14, executable: "/opt/app2")
        let claim = CallerIdentity(executable: app, declaredGroups: ["com.example.app.keys"])
        func withheld(_ number: Int) -> [String] {
            machine.identity(number, user: 1000, claim: claim).withheldGroups.keys.sorted()
        }
        #expect(withheld(11).isEmpty)
        try machine.rule(
            "app",
            [
                "latchkey-subject": ["executable": app],
                "latchkey-reserved-prefixes": ["com.example.app.", "program.app"],
            ])
        #expect(withheld(10).isEmpty)
        #expect(withheld(11) == ["com.example.app.keys"])
        // What the program says about itself reserves nothing for it.
        #expect(withheld(12) == ["com.example.app.keys"])
        #expect(withheld(13) == ["program.app"] && withheld(14) == ["program.app2"])
        // A second package may have the same prefix, and a directory stands for its executables.
        try machine.rule(
            "more", ["latchkey-subject": ["executable": "/opt/"], "latchkey-reserved-prefixes": ["program.app"]])
        #expect(withheld(13).isEmpty && withheld(14).isEmpty && withheld(11) == ["com.example.app.keys"])
        // Such a rule is about claims, and attests nothing.
        #expect(machine.entitlements.rules.isEmpty && machine.entitlements.problems.isEmpty)
        #expect(machine.identity(10, user: 1000).attestedGroups == nil)
    }

    @Test(
        "A reservation that cannot be read withholds every claimed group; a file that root does not own reserves nothing"
    )
    func unreadableReservation() throws {
        let machine = try FakeMachine()
        try machine.process(10, executable: "/opt/app")
        func withheld() -> [String] { machine.identity(10, user: 1000).withheldGroups.keys.sorted() }
        let subject = ["executable": "/opt/other"]
        for list: [String: Any] in [
            ["latchkey-subject": subject, "latchkey-reserved-prefixes": "program."],
            ["latchkey-subject": subject, "latchkey-reserved-prefixes": [""]],
            ["latchkey-subject": subject, "latchkey-reserved-prefixes": [String]()],
            ["latchkey-subject": ["executable": "other"], "latchkey-reserved-prefixes": ["a"]],
            ["latchkey-subject": ["user": "1000"], "latchkey-reserved-prefixes": ["a"]],
            [
                "latchkey-subject": subject, "latchkey-reserved-prefixes": ["a"],
                "keychain-access-groups": ["G1"],
            ],
        ] {
            try machine.rule("one", list)
            #expect(withheld() == ["program.app"], "\(list)")
            #expect(machine.entitlements.problems.count == 1)
        }
        try "<plist>".write(toFile: "\(machine.rules)/one.plist", atomically: true, encoding: .utf8)
        #expect(withheld() == ["program.app"])
        chmod("\(machine.rules)/one.plist", 0o666)
        #expect(withheld().isEmpty)
        try FileManager.default.removeItem(atPath: "\(machine.rules)/one.plist")
        #expect(withheld().isEmpty)
    }

    // MARK: The administrator's files

    @Test("A rule file that users other than its owner can write is ignored, and reported")
    func writable() throws {
        let machine = try FakeMachine()
        try machine.rule("one", ["latchkey-subject": ["user": "1000"], "keychain-access-groups": ["A"]])
        chmod("\(machine.rules)/one.plist", 0o666)
        #expect(machine.entitlements.rules.isEmpty)
        #expect(machine.entitlements.problems.first?.contains("others can write it") == true)
        chmod("\(machine.rules)/one.plist", 0o644)
        #expect(machine.entitlements.rules.count == 1)
        chmod(machine.rules, 0o777)
        #expect(machine.entitlements.rules.isEmpty)
        #expect(EntitlementsDirectory(machine.rules, owner: geteuid() + 1).rules.isEmpty)
        #expect(EntitlementsDirectory("/nowhere").rules.isEmpty)
        #expect(EntitlementsDirectory("/nowhere").problems.isEmpty)
    }

    @Test("A rule that cannot be read may be about any user: claims do not permit administration meanwhile")
    func unreadableRule() throws {
        let machine = try FakeMachine()
        try machine.rule("one", ["latchkey-subject": ["user": "1000"], "keychain-access-groups": ["A"]])
        #expect(machine.reader().canAttest(processesOf: 1000) && !machine.reader().canAttest(processesOf: 1001))
        chmod("\(machine.rules)/one.plist", 0o666)
        #expect(machine.reader().canAttest(processesOf: 1000) && machine.reader().canAttest(processesOf: 1001))
        chmod("\(machine.rules)/one.plist", 0o644)
        try "<plist>".write(toFile: "\(machine.rules)/two.plist", atomically: true, encoding: .utf8)
        #expect(machine.reader().canAttest(processesOf: 1001))
    }

    @Test("An invalid rule is rejected as a whole, and reported")
    func refused() throws {
        let odd: [([String: Any], String)] = [
            ([:], "latchkey-subject"), (["latchkey-subject": [String: String]()], "must name"),
            (["latchkey-subject": ["user": "nobody-of-that-name"]], "not found"),
            (["latchkey-subject": ["user": "1", "host": "a"]], "'host'"),
            (["latchkey-subject": ["unit": 5]], "strings"),
            (["latchkey-subject": ["label": "a", "label-is-confined": "no"]], "must be 'yes'"),
        ]
        for (list, words) in odd {
            let machine = try FakeMachine()
            try machine.rule("odd", list)
            let entitlements = machine.entitlements
            #expect(entitlements.rules.isEmpty)
            #expect(entitlements.problems.first?.contains(words) == true, "\(entitlements.problems)")
        }
    }

    @Test("A symbolic link among the rules is not followed")
    func links() throws {
        let machine = try FakeMachine()
        try machine.rule("one", ["latchkey-subject": ["user": "1000"], "keychain-access-groups": ["A"]])
        try FileManager.default.moveItem(
            atPath: "\(machine.rules)/one.plist", toPath: "\(machine.directory.path)/one.plist")
        try FileManager.default.createSymbolicLink(
            atPath: "\(machine.rules)/one.plist", withDestinationPath: "\(machine.directory.path)/one.plist")
        #expect(machine.entitlements.rules.isEmpty)
        #expect(machine.entitlements.problems.count == 1)
    }
}
