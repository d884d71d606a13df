// SPDX-License-Identifier: Apache-2.0

/// The memory of `latchkey protect` and `latchkey cat`, for a small and a big file.
struct ConversionMemory {
    let latchkey: Result<Program, MissingTool>
    let directory: String
    let big: BigFileContent

    /// Peaks in MiB.
    private struct Peaks {
        var protect = 0.0
        var cat = 0.0
    }

    func rows() throws -> [FilesRow] {
        let small = BigFileContent(mebibytes: 16)
        // A peak of a short process can be missed; one of several runs has it.
        let few = try latchkey.using { try peaks($0, small, runs: 5) }
        let many = try latchkey.using { try peaks($0, big, runs: 1) }
        let other = "\(small.mebibytes) MiB"
        return [
            FilesRow(
                "\(big.mebibytes) MiB: peak memory of protect", "MiB", many.map(\.protect), other, few.map(\.protect),
                .growth(4)),
            FilesRow(
                "\(big.mebibytes) MiB: peak memory of cat", "MiB", many.map(\.cat), other, few.map(\.cat), .growth(4)),
        ]
    }

    private func peaks(_ latchkey: Program, _ content: BigFileContent, runs: Int) throws -> Peaks {
        ProgressLine.say("memory: \(content.mebibytes) MiB")
        let file = PlainFileContender(name: "plain", path: "\(directory)/memory")
        var peaks = Peaks()
        for _ in 0..<runs {
            try file.write(content)
            let protect = try mebibytes(latchkey, ["protect", "--class", "first-unlock", file.path])
            let cat = try mebibytes(latchkey, ["cat", file.path])
            (peaks.protect, peaks.cat) = (max(peaks.protect, protect), max(peaks.cat, cat))
            try file.remove()
        }
        return peaks
    }

    private func mebibytes(_ latchkey: Program, _ arguments: [String]) throws -> Double {
        Double(try latchkey.peakKiB(arguments)) / 1024
    }
}
