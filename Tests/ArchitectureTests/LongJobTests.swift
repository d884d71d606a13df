// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The jobs that are too long for every run of `.ci/run`.
@Suite("Long jobs")
struct LongJobTests {
    @Test("Every job has minutes, runs targets of make that exist, and names files that exist")
    func table() throws {
        let targets = try Makefiles.targets()
        let jobs = try Self.jobs()
        #expect(jobs.count > 8)
        for job in jobs {
            #expect(job.count == 4 && Int(job[1]).map { $0 > 0 } == true, "\(job)")
            let words = job[2].split(separator: " ").map(String.init)
            #expect(words.first == "make")
            for word in words.dropFirst() where !word.contains("=") { #expect(targets.contains(word), "\(word)") }
            for file in job[3].split(separator: " ") {
                let path = Sources.root.appending(path: String(file)).path
                let folder = URL(filePath: path).deletingLastPathComponent()
                let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
                #expect(names.contains { "\(folder.path)/\($0)".hasPrefix(path.trimmingSuffix("/")) }, "\(file)")
            }
        }
        let (status, list, _) = try run("/usr/bin/env", [Sources.root.appending(path: ".ci/long").path, "--list"])
        #expect(status == 0 && Set(list.split(separator: "\n").map(String.init)) == Set(jobs.map { $0[0] }))
    }

    @Test("The count of commits selects the one job that runs; its failure fails the run")
    func turn() throws {
        let jobs = try Self.jobs()
        let copy = try Repository(make: "[ \"$1\" != docs ] || exit 3")
        for count in 1...jobs.count {
            if count > 1 { try copy.commit("file", "\(count)") }
            let (status, output) = try copy.long([])
            let job = jobs[count % jobs.count]
            guard job[0] != "packages" || geteuid() == 0 else {
                #expect(status == 0 && output.contains("== long job packages is due, and needs root"), "\(output)")
                continue
            }
            #expect(output.contains("== long job \(job[0]): \(job[2]) (max \(job[1]) min, "), "\(output)")
            #expect(output.components(separatedBy: " (max ").count == 2, "\(output)")
            #expect(status == (job[0] == "documents" ? 1 : 0))
            #expect(output.contains("== long job \(job[0]) \(job[0] == "documents" ? "failed with 3" : "passed") in "))
        }
    }

    @Test("A change of a job's own files runs it before the selected job; without time, the selected job is named")
    func changed() throws {
        let copy = try Repository(make: "")
        try copy.commit("Fuzz/Package.swift", "changed")
        var (status, output) = try copy.long(["LATCHKEY_CI_MINUTES=1000"])
        #expect(status == 0)
        let jobs = try Self.jobs()
        let due = jobs[2 % jobs.count][0]
        let fuzz = try #require(output.range(of: "== long job fuzz passed"))
        let other = try #require(output.range(of: "== long job \(due) passed"))
        #expect(fuzz.lowerBound < other.lowerBound)
        (status, output) = try copy.long(["LATCHKEY_CI_MINUTES=1"])
        #expect(status == 0 && output.contains("== long job fuzz passed"))
        #expect(output.contains("== long job \(due) is due, and there is no time for it: .ci/long \(due)"), "\(output)")
        #expect(!output.contains("== long job \(due) passed"))
    }

    @Test("A change before the base runs no job, and a base that is no commit does not count")
    func base() throws {
        let copy = try Repository(make: "")
        try copy.commit("Fuzz/Package.swift", "changed")
        try copy.commit("file", "changed")
        #expect(try !copy.long(["LATCHKEY_CI_BASE=HEAD~1"]).output.contains("job fuzz"))
        let none = String(repeating: "0", count: 40)
        #expect(try copy.long(["LATCHKEY_CI_BASE=\(none)"]).output.contains("job fuzz passed"))
    }

    @Test("A job that exceeds its time is stopped, and is a failure; an unknown one is refused with the names")
    func bounded() throws {
        let copy = try Repository(make: "exec sleep 100000", seconds: true)
        var (status, output) = try copy.long([], ["fuzz"])
        #expect(status == 1 && output.contains("== long job fuzz was stopped after its 1 min"), "\(output)")
        #expect(try copy.long(["LATCHKEY_CI_MINUTES=2"], ["fuzz"]).output.contains("was stopped after its 2 min"))
        (status, output) = try copy.long([], ["fuzz", "nothing"])
        #expect(status == 2 && output.contains("unknown job nothing; known: tests release"), "\(output)")
        #expect(!output.contains("job fuzz:"))
    }

    @Test(
        "Without all commits, one job runs and a line says why it is that one; without a repository, a job must be named"
    )
    func history() throws {
        let copy = try Repository(make: "")
        try copy.commit("Fuzz/Package.swift", "changed")
        try copy.makeShallow()
        var (status, output) = try copy.long([])
        #expect(status == 0 && output.contains("== the clone has not all commits"), "\(output)")
        #expect(output.components(separatedBy: " (max ").count <= 2, "\(output)")
        try copy.removeHistory()
        (status, output) = try copy.long([])
        #expect(status == 2 && output.contains(".ci/long: no git repository: name a job"), "\(output)")
        #expect(try copy.long([], ["documents"]).output.contains("== long job documents passed"))
    }

    /// The rows of the table: name, minutes, command, files.
    fileprivate static func jobs() throws -> [[String]] {
        let text = try String(contentsOf: Sources.root.appending(path: ".ci/long"), encoding: .utf8)
        return text.split(separator: "\n").filter { $0.contains("|make ") }.map {
            $0.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
        }
    }
}

/// A repository with one commit and the script, and a fake make.
private final class Repository {
    private let directory = FileManager.default.temporaryDirectory.appending(path: "latchkey-jobs-\(UUID())")

    /// - Parameter seconds: whether the limits are one second each.
    init(make: String, seconds: Bool = false) throws {
        let original = Sources.root.appending(path: ".ci/long")
        var script = try String(contentsOf: original, encoding: .utf8)
        if seconds {
            script = script.replacing(/(?m)^(\w+)\|\d+\|/) { "\($0.1)|1|" }.replacing(
                "--kill-after=60 \"${minutes}m\"", with: "--kill-after=1 \"${minutes}s\"")
        }
        try write(".ci/long", script)
        try write("programs/make", "#!/bin/sh\n\(make)\n")
        for file in [".ci/long", "programs/make"] {
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o755], ofItemAtPath: directory.appending(path: file).path)
        }
        try git("init", "--quiet", "--initial-branch=main")
        try commit("file", "first")
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    /// Makes the repository shallow: its last commit has no parent.
    func makeShallow() throws {
        let head = try String(contentsOf: directory.appending(path: ".git/refs/heads/main"), encoding: .utf8)
        try write(".git/shallow", head)
    }

    func removeHistory() throws { try FileManager.default.removeItem(at: directory.appending(path: ".git")) }

    func commit(_ file: String, _ text: String) throws {
        try write(file, text)
        try git("add", file)
        try git("-c", "user.name=Test", "-c", "user.email=test@test.invalid", "commit", "--quiet", "--message", file)
    }

    /// Runs the script, with the settings of the environment.
    func long(_ settings: [String], _ names: [String] = []) throws -> (status: Int32, output: String) {
        let path = "PATH=\(directory.path)/programs:/usr/bin:/bin"
        let program = directory.appending(path: ".ci/long").path
        let (status, output, errors) = try run(
            "/usr/bin/env",
            ["-u", "LATCHKEY_CI_BASE", "-u", "LATCHKEY_CI_MINUTES", path, "GIT_CEILING_DIRECTORIES=/"] + settings + [
                program
            ] + names)
        return (status, output + errors)
    }

    private func git(_ words: String...) throws {
        let (status, _, errors) = try run("/usr/bin/git", ["-C", directory.path] + words)
        try #require(status == 0, "\(errors)")
    }

    private func write(_ file: String, _ text: String) throws {
        let url = directory.appending(path: file)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }
}

extension String {
    fileprivate func trimmingSuffix(_ suffix: String) -> String {
        hasSuffix(suffix) ? String(dropLast(suffix.count)) : self
    }
}
