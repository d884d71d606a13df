// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import KeychainTesting
import LatchkeyService
import LinuxSystem
import SecretMemory
import Testing

/// The content of the files on disk.
@Suite("At rest")
struct AtRestTests {
    private let caller = CallerIdentity(executable: "/usr/bin/marker-executable", declaredGroups: ["marker.group.one"])
    private let markers = [
        "marker-secret-58213", "marker-account-58213", "marker-service-58213", "marker-label-58213",
        "marker-comment-58213",
        "marker.group.one", "marker-server-58213", "/usr/bin/marker-executable",
    ]

    @Test("T201: no file contains secrets, attributes, or their digests")
    func nothingInTheClear() throws {
        let home = try TemporaryDirectory()
        let service = try EmbeddedService(home: KeychainHome(root: home.path))
        try fill(service)
        for phase in ["with its log", "after the checkpoint", "closed"] {
            if phase == "after the checkpoint" { try service.checkpoint() }
            if phase == "closed" { service.close() }
            let files = try home.files()
            #expect(files.keys.contains { $0.hasSuffix("keychain.db") })
            if phase == "with its log" { #expect(files.keys.contains { $0.hasSuffix("-wal") }) }
            for (name, content) in files {
                for marker in markers {
                    for (form, bytes) in try forms(of: marker) {
                        #expect(!content.contains(bytes), "\(form) of \(marker) is in \(name), \(phase)")
                    }
                }
            }
        }
        // The positive control: the same search finds each form in a file that contains it.
        for marker in markers {
            for (form, bytes) in try forms(of: marker) {
                #expect(([0, 1, 2] + bytes + [3]).contains(bytes), "\(form)")
            }
        }
    }

    private func fill(_ service: EmbeddedService) throws {
        let secrets = ItemSecrets(data: SharedSecret(copying: markers[0].utf8))
        _ = try service.items.add(
            ItemAddition(
                .genericPassword,
                attributes: [
                    .account: .string(markers[1]), .service: .string(markers[2]), .label: .string(markers[3]),
                    .comment: .string(markers[4]),
                ], secrets: secrets), from: caller)
        _ = try service.items.add(
            ItemAddition(
                .internetPassword, attributes: [.server: .string(markers[6]), .account: .string(markers[1])],
                secrets: secrets),
            from: caller)
    }

    /// The marker itself and its digests, raw and in hexadecimal, computed with coreutils.
    private func forms(of marker: String) throws -> [(String, [UInt8])] {
        var forms = [("plain text", Array(marker.utf8))]
        for algorithm in ["sha1", "sha256", "md5"] {
            let process = Process()
            process.executableURL = URL(filePath: "/usr/bin/\(algorithm)sum")
            let (input, output) = (Pipe(), Pipe())
            process.standardInput = input
            process.standardOutput = output
            try process.start()
            input.fileHandleForWriting.write(Data(marker.utf8))
            input.fileHandleForWriting.closeFile()
            let text = String(decoding: output.fileHandleForReading.awaitEnd(), as: UTF8.self)
            process.awaitExit()
            let hexadecimal = try #require(text.split(separator: " ").first.map(String.init))
            forms.append((algorithm, try #require(Hexadecimal.bytes(hexadecimal.utf8))))
            forms.append(("\(algorithm) in hexadecimal", Array(hexadecimal.utf8)))
        }
        return forms
    }
}

extension [UInt8] {
    /// Whether the array contains these bytes.
    func contains(_ part: [UInt8]) -> Bool {
        Data(self).range(of: Data(part)) != nil
    }
}
