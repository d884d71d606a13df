// SPDX-License-Identifier: Apache-2.0

import Foundation

/// One run: every part on its own, each with the same tools.
struct FilesBenchmark {
    private let isQuick: Bool
    private let directory: String
    private let environment: [String: String]
    private let latchkey: Result<Program, MissingTool>
    private let age: Result<AgeEncryption, MissingTool>

    /// - Parameters:
    ///   - latchkey: the executable, if any.
    ///   - directory: where all files are.
    ///   - environment: that of the programs; it names the keychain.
    init(isQuick: Bool, latchkey: String?, directory: String, environment: [String: String]) throws {
        (self.isQuick, self.directory, self.environment) = (isQuick, directory, environment)
        if let latchkey {
            self.latchkey = .success(Program(path: latchkey, environment: environment))
        } else {
            self.latchkey = .failure(MissingTool("--latchkey is not given"))
        }
        age = try Result<String, MissingTool>.success(directory).using { try AgeEncryption(in: $0, environment) }
    }

    func run() throws -> FilesReport {
        var report = FilesReport(machine: .current(storing: directory))
        let folder = try latchkey.using { try MountedFolder.latchkey($0, at: "\(directory)/mounted") }
        let gocryptfs = try Program.find("gocryptfs", environment).using {
            try MountedFolder.gocryptfs($0, at: "\(directory)/gocryptfs")
        }
        defer { for mounted in [folder, gocryptfs] { (try? mounted.get())?.unmount() } }
        let content = BigFileContent(mebibytes: isQuick ? 128 : 1024)
        report.rows += try bigFileRows(content, folder, gocryptfs)
        report.rows += try randomRows(folder, gocryptfs)
        report.rows += try FolderComparison(
            folder: folder, gocryptfs: gocryptfs, list: Program.find("ls", environment), rounds: isQuick ? 3 : 5
        ).rows()
        report.rows += try TreeComparison(
            latchkey: latchkey, copy: Program.find("cp", environment), age: age, directory: directory,
            rounds: isQuick ? 2 : 3
        ).rows()
        report.rows += try ConversionMemory(latchkey: latchkey, directory: directory, big: content).rows()
        report.machine.loadAtEnd = Machine.load
        return report
    }

    private func bigFileRows(
        _ content: BigFileContent, _ folder: Result<MountedFolder, MissingTool>,
        _ gocryptfs: Result<MountedFolder, MissingTool>
    ) throws -> [FilesRow] {
        let plain = PlainFileContender(name: "plain", path: "\(directory)/big-plain")
        let latchkey = ProtectedFileContender(path: "\(directory)/big-protected")
        let age = age.map { encryption -> any BigFileContender in
            AgeFileContender(encryption: encryption, source: plain.path, path: "\(directory)/big-age")
        }
        let contenders = BigFileComparison.Contenders(
            plain: .success(plain), latchkey: .success(latchkey), age: age,
            gocryptfs: gocryptfs.map { contender("gocryptfs", $0) },
            folder: folder.map { contender("latchkey mount", $0) })
        let rows = try BigFileComparison(content: content, rounds: isQuick ? 2 : 3).rows(contenders)
        let all = [contenders.plain, contenders.latchkey, contenders.age, contenders.gocryptfs, contenders.folder]
        for contender in all { _ = try contender.using { try $0.remove() } }
        return rows
    }

    private func contender(_ name: String, _ folder: MountedFolder) -> any BigFileContender {
        PlainFileContender(name: name, path: "\(folder.point)/big", stores: [folder.store])
    }

    private func randomRows(
        _ folder: Result<MountedFolder, MissingTool>, _ gocryptfs: Result<MountedFolder, MissingTool>
    ) throws -> [FilesRow] {
        ProgressLine.say("files for random reads")
        let content = BigFileContent(mebibytes: 256)
        let plain = PlainFileContender(name: "plain", path: "\(directory)/random-plain")
        let protected = ProtectedFileContender(path: "\(directory)/random-protected")
        try plain.write(content)
        try protected.write(content)
        let places = try [folder, gocryptfs].map { mounted in
            try mounted.using { folder -> String in
                let file = PlainFileContender(name: "mounted", path: "\(folder.point)/random")
                try file.write(content)
                return file.path
            }
        }
        let rounds = isQuick ? 3 : 5
        let rows =
            try RandomReads(mebibytes: content.mebibytes, count: isQuick ? 50_000 : 200_000, rounds: rounds)
            .rows(protected: protected.path, plain: plain.path)
            // Within the 4 MiB that a handle keeps decrypted.
            + RandomReads(mebibytes: content.mebibytes, part: 3, count: isQuick ? 50_000 : 200_000, rounds: rounds)
            .rows(protected: protected.path, plain: plain.path)
            + RandomReads(mebibytes: content.mebibytes, count: 20_000, rounds: rounds)
            .rows(folder: places[0], gocryptfs: places[1])
        try plain.remove()
        try protected.remove()
        for place in places { _ = try place.using { try PlainFileContender(name: "mounted", path: $0).remove() } }
        return rows
    }
}
