// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import KeychainTesting
import LinuxSystem
@testable import LatchkeyService
import Testing

/// The identity that a program declares beside its executable (keychain-behaviour §3.8.1).
@Suite("Program identity")
struct ProgramIdentityTests {
    @Test("A program without a property list declares no identity")
    func none() throws {
        #expect(try groups(entitlements: nil, info: nil) == nil)
    }

    @Test("Entitlements give their groups in Apple's order, without duplicates")
    func order() throws {
        let entitlements: [String: Any] = [
            "com.apple.security.application-groups": ["group.app"], "application-identifier": "TEAM.app",
            "com.apple.developer.associated-application-identifier": ["TEAM.associated"],
            "keychain-access-groups": ["G1", "G2", "TEAM.app"],
        ]
        #expect(
            try groups(entitlements: entitlements, info: nil) == [
                "G1", "G2", "TEAM.app", "TEAM.associated", "group.app",
            ])
    }

    @Test("T142, T144: the associated identifier comes before the application's own")
    func associated() throws {
        #expect(try groups(entitlements: ["application-identifier": "A"], info: nil) == ["A"])
        let both: [String: Any] = [
            "application-identifier": "A", "com.apple.developer.associated-application-identifier": ["B"],
        ]
        #expect(try groups(entitlements: both, info: nil) == ["B", "A"])
    }

    @Test("An Info.plist gives its bundle identifier; entitlements take precedence")
    func info() throws {
        #expect(try groups(entitlements: nil, info: ["CFBundleIdentifier": "com.example.app"]) == ["com.example.app"])
        #expect(
            try groups(
                entitlements: ["keychain-access-groups": ["G1"]], info: ["CFBundleIdentifier": "com.example.app"]) == [
                    "G1"
                ])
        #expect(try groups(entitlements: nil, info: ["CFBundleName": "no identifier"]) == nil)
    }

    @Test("Entitlements without groups, or that are not a property list, declare an identity without any group")
    func empty() throws {
        #expect(try groups(entitlements: [:], info: nil) == [])
        #expect(try groups(entitlements: ["keychain-access-groups": "not an array"], info: nil) == [])
        let directory = try TemporaryDirectory()
        try Data("this is no property list".utf8).write(to: URL(filePath: "\(directory.path)/program.entitlements"))
        #expect(ProgramIdentity.declaredGroups(of: "\(directory.path)/program") == [])
    }

    @Test("A program with unreadable entitlements does not get the shared group")
    func unreadable() throws {
        let directory = try TemporaryDirectory()
        try FileManager.default.createDirectory(
            atPath: "\(directory.path)/program.entitlements", withIntermediateDirectories: false)
        #expect(ProgramIdentity.declaredGroups(of: "\(directory.path)/program") == [])
        try FileManager.default.createSymbolicLink(
            atPath: "\(directory.path)/other.entitlements", withDestinationPath: "/nowhere")
        #expect(ProgramIdentity.declaredGroups(of: "\(directory.path)/other") == [])
        try Data("garbage".utf8).write(to: URL(filePath: "\(directory.path)/Info.plist"))
        #expect(ProgramIdentity.declaredGroups(of: "\(directory.path)/third") == [])
        #expect(try groups(entitlements: nil, info: ["CFBundleIdentifier": ""]) == [])
    }

    @Test("Entitlements may be a binary property list")
    func binary() throws {
        let directory = try TemporaryDirectory()
        let list = ["keychain-access-groups": ["G1", "G2"]]
        let path = "\(directory.path)/program.entitlements"
        try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
            .write(to: URL(filePath: path))
        #expect(ProgramIdentity.declaredGroups(of: "\(directory.path)/program") == ["G1", "G2"])
        let report = try ProgramIdentity.report(on: path)
        #expect(report.groups.map(\.name) == ["G1", "G2"] && report.facts.first?.source == "a binary property list")
        try Data("bplist00 and nothing".utf8).write(to: URL(filePath: path))
        #expect(ProgramIdentity.declaredGroups(of: "\(directory.path)/program") == [])
    }

    @Test("A report names the groups that a file gives, or why it gives none")
    func report() throws {
        let directory = try TemporaryDirectory()
        func report(_ list: [String: Any]) throws -> CallerReport {
            let path = "\(directory.path)/app.entitlements"
            try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0)
                .write(to: URL(filePath: path))
            return try ProgramIdentity.report(on: path)
        }
        #expect(try report(["application-identifier": "A"]).groups.map(\.name) == ["A"])
        #expect(try report(["CFBundleIdentifier": "com.example.app"]).groups.map(\.name) == ["com.example.app"])
        for list: [String: Any] in [[:], ["keychain-access-groups": ["*"]]] {
            let report = try report(list)
            #expect(report.groups.isEmpty && !report.reason.isEmpty)
        }
        let program = try ProgramIdentity.report(on: Executable.path("latchkey"))
        #expect(program.groups.map(\.name) == ["program.latchkey", "latchkey.shared"])
        // A link is resolved, as for a process; a script has the groups of its interpreter.
        let link = "\(directory.path)/link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: Executable.path("latchkey"))
        #expect(try ProgramIdentity.report(on: link).groups == program.groups)
        let script = "\(directory.path)/script"
        try Data("#!/bin/sh\n".utf8).write(to: URL(filePath: script))
        let error = #expect(throws: KeychainError.self) { try ProgramIdentity.report(on: script) }
        #expect(error?.problem.contains("interpreter") == true)
        let text = "\(directory.path)/text"
        try Data("text".utf8).write(to: URL(filePath: text))
        #expect(throws: KeychainError.self) { try ProgramIdentity.report(on: text) }
        #expect(throws: KeychainError.self) { try ProgramIdentity.report(on: "/nonexistent") }
    }

    @Test("A program keeps its path if its file is replaced while it runs")
    func replaced() throws {
        #expect(ProcessDirectory.installedPath("/usr/bin/program (deleted)") == "/usr/bin/program")
        #expect(ProcessDirectory.installedPath("/usr/bin/program") == "/usr/bin/program")
    }

    private func groups(entitlements: [String: Any]?, info: [String: Any]?) throws -> [String]? {
        let directory = try TemporaryDirectory()
        for (name, list) in [("program.entitlements", entitlements), ("Info.plist", info)] {
            guard let list else { continue }
            let data = try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0)
            try data.write(to: URL(filePath: "\(directory.path)/\(name)"))
        }
        return ProgramIdentity.declaredGroups(of: "\(directory.path)/program")
    }
}
