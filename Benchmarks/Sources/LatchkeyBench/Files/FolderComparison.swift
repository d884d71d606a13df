// SPDX-License-Identifier: Apache-2.0

/// Works with small files in mounted folders.
struct FolderComparison {
    let folder: Result<MountedFolder, MissingTool>
    let gocryptfs: Result<MountedFolder, MissingTool>
    /// `ls`.
    let list: Result<Program, MissingTool>
    let rounds: Int

    /// The measured operations, in this order.
    private enum Work: String, CaseIterable {
        case create
        case list = "ls -lR, warm"
        case rename
        case listAgain = "ls -lR, mounted again"
        case delete
    }

    /// Files per second of one side.
    private struct Rates {
        private var figures: [Work: FileFigure] = [:]

        subscript(work: Work) -> FileFigure {
            get { figures[work, default: .success(0)] }
            set { figures[work] = newValue }
        }
    }

    func rows() throws -> [FilesRow] {
        var (ours, theirs) = (Rates(), Rates())
        for round in 1...rounds {
            ProgressLine.say("small files of mounted folders: round \(round) of \(rounds)")
            try measure(gocryptfs, into: &theirs)
            try measure(folder, into: &ours)
        }
        return Work.allCases.map { work in
            let what = "mounted, \(Text.grouped(Self.files)) small files: \(work.rawValue)"
            return FilesRow(what, "files/s", ours[work], "gocryptfs", theirs[work], .ratio(1))
        }
    }

    private func measure(_ folder: Result<MountedFolder, MissingTool>, into rates: inout Rates) throws {
        for work in Work.allCases {
            try rates[work].improve(with: folder) { folder in try Double(Self.files) / seconds(work, folder) }
        }
        _ = try folder.using { folder in try tree(folder).remove() }
    }

    private func tree(_ folder: MountedFolder) -> SmallFileTree {
        SmallFileTree(path: "\(folder.point)/small", files: Self.files, directories: Self.directories)
    }

    private func seconds(_ work: Work, _ folder: MountedFolder) throws -> Double {
        let tree = tree(folder)
        var renamed = tree
        renamed.suffix = ".renamed"
        let list = try list.get()
        switch work {
        case .create:
            try tree.makeDirectories()
            return try Stopwatch.seconds { try tree.makeFiles() }
        case .list:
            // Listed once, everything is in the caches.
            try list.run(["-lR", tree.path])
            return try Stopwatch.seconds { try list.run(["-lR", tree.path]) }
        case .rename: return try Stopwatch.seconds { try tree.rename(to: renamed) }
        case .listAgain:
            try folder.remount()
            return try Stopwatch.seconds { try list.run(["-lR", tree.path]) }
        case .delete: return try Stopwatch.seconds { try renamed.deleteFiles() }
        }
    }

    private static let files = 2_000
    private static let directories = 20
}
