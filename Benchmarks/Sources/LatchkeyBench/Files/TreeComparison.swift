// SPDX-License-Identifier: Apache-2.0

import Foundation
import Latchkey

/// Protects a tree of small files in place, and compares it with a durable copy and with age.
struct TreeComparison {
    let latchkey: Result<Program, MissingTool>
    let copy: Result<Program, MissingTool>
    let age: Result<AgeEncryption, MissingTool>
    let directory: String
    let rounds: Int

    func rows() throws -> [FilesRow] {
        let tree = SmallFileTree(path: "\(directory)/tree", files: 10_000, directories: 100)
        var (protected, copied, sealed) = (FileFigure.success(0), FileFigure.success(0), FileFigure.success(0))
        for round in 1...rounds {
            ProgressLine.say("\(Text.grouped(tree.files)) small files: round \(round) of \(rounds)")
            try tree.makeDirectories()
            try tree.makeFiles()
            try tree.synchronize()
            try copied.improve(with: copy) { try copyRate(tree, $0) }
            try sealed.improve(with: age) { try sealRate(tree, $0) }
            try protected.improve(with: latchkey) { try protectRate(tree, $0) }
            try tree.remove()
        }
        let what = "\(Text.grouped(tree.files)) small files: protect -r"
        return [
            FilesRow(what, "files/s", protected, "cp -r and fsync", copied, .rate(3_000)),
            FilesRow(what, "files/s", protected, "age, extrapolated from \(Self.sealedCount)", sealed),
        ]
    }

    private func protectRate(_ tree: SmallFileTree, _ latchkey: Program) throws -> Double {
        let seconds = try Stopwatch.seconds {
            try latchkey.run(["protect", "-r", tree.path, "--class", "first-unlock"])
        }
        for number in [0, tree.files - 1] {
            guard try ProtectedFile.protection(of: tree.file(number)) == .completeUntilFirstUserAuthentication else {
                throw BenchmarkFailure("latchkey protect: \(tree.file(number)) is not protected")
            }
        }
        return Double(tree.files) / seconds
    }

    private func copyRate(_ tree: SmallFileTree, _ program: Program) throws -> Double {
        let copy = SmallFileTree(path: "\(directory)/copy", files: tree.files, directories: tree.directories)
        let seconds = try Stopwatch.seconds {
            try program.run(["-r", tree.path, copy.path])
            try copy.synchronize()
        }
        try copy.remove()
        return Double(tree.files) / seconds
    }

    /// A process for each file, as age has no other way.
    private func sealRate(_ tree: SmallFileTree, _ age: AgeEncryption) throws -> Double {
        let sealed = "\(directory)/sealed"
        try FileManager.default.createDirectory(atPath: sealed, withIntermediateDirectories: true)
        let seconds = try Stopwatch.seconds {
            for number in 0..<Self.sealedCount { try age.encrypt(tree.file(number), to: "\(sealed)/\(number)") }
        }
        try FileManager.default.removeItem(atPath: sealed)
        return Double(Self.sealedCount) / seconds
    }

    private static let sealedCount = 200
}
