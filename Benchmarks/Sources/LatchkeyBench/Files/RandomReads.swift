// SPDX-License-Identifier: Apache-2.0

import Latchkey

/// Reads of 4 KiB at random places of a file, by one thread.
struct RandomReads {
    private let rounds: Int
    private let place: String
    private let offsets: [Int]

    /// - Parameters:
    ///   - mebibytes: the length of the files.
    ///   - part: the length of the part that is read; nil for the whole files.
    ///   - count: how many reads one round has.
    init(mebibytes: Int, part: Int? = nil, count: Int, rounds: Int) {
        let pages = ((part ?? mebibytes) << 20) / Self.size
        var generator = SeededGenerator(state: 0x4C4B_4559)
        offsets = (0..<count).map { _ in Int.random(in: 0..<pages, using: &generator) * Self.size }
        self.rounds = rounds
        place = part.map { "\($0) of \(mebibytes) MiB" } ?? "\(mebibytes) MiB"
    }

    /// Compares a protected file with a plain one.
    func rows(protected: String, plain: String) throws -> [FilesRow] {
        for path in [protected, plain] { try PageCache.fill(with: path) }
        var (latchkey, floor) = (0.0, 0.0)
        for round in 1...rounds {
            ProgressLine.say("random reads: round \(round) of \(rounds)")
            floor = max(floor, try plainRate(plain))
            latchkey = max(latchkey, try protectedRate(protected))
        }
        return [
            FilesRow(
                "\(place): random read of 4 KiB, warm", "1/s", .success(latchkey), "plain", .success(floor),
                .rate(100_000))
        ]
    }

    /// Compares files in mounted folders.
    func rows(
        folder: Result<String, MissingTool>, gocryptfs: Result<String, MissingTool>
    ) throws -> [FilesRow] {
        let none = FileFigure.success(0)
        var (warm, served) = ((ours: none, theirs: none), (ours: none, theirs: none))
        for round in 1...rounds {
            ProgressLine.say("random reads of mounted folders: round \(round) of \(rounds)")
            try warm.theirs.improve(with: gocryptfs, warmRate)
            try warm.ours.improve(with: folder, warmRate)
            try served.theirs.improve(with: gocryptfs, servedRate)
            try served.ours.improve(with: folder, servedRate)
        }
        let what = "mounted, \(place): random read of 4 KiB"
        return [
            FilesRow("\(what), warm", "1/s", warm.ours, "gocryptfs", warm.theirs, .ratio(1)),
            FilesRow("\(what), only the store warm", "1/s", served.ours, "gocryptfs", served.theirs, .ratio(1)),
        ]
    }

    /// The file was read before, and is opened anew: the program may let the kernel keep the plain content
    /// (latchkey mount) or not (gocryptfs).
    private func warmRate(_ path: String) throws -> Double {
        try PageCache.fill(with: path)
        return try plainRate(path)
    }

    /// The kernel has only the encrypted content, and the program must answer.
    private func servedRate(_ path: String) throws -> Double {
        try PageCache.fill(with: path)
        guard ColdCache.advise([path]) else { throw MissingTool("the kernel keeps what a mounted folder has shown") }
        return try plainRate(path)
    }

    private func plainRate(_ path: String) throws -> Double {
        let file = try OpenFile(reading: path)
        var buffer = [UInt8](repeating: 0, count: Self.size)
        return try rate { offset in try file.read(into: &buffer, at: offset) }
    }

    private func protectedRate(_ path: String) throws -> Double {
        let file = try ProtectedFile(path)
        let rate = try rate { offset in try file.read(at: UInt64(offset), count: Self.size).count }
        try file.close()
        return rate
    }

    private func rate(_ read: (Int) throws -> Int) throws -> Double {
        let seconds = try Stopwatch.seconds {
            for offset in offsets {
                guard try read(offset) == Self.size else { throw BenchmarkFailure("a read returned fewer bytes") }
            }
        }
        return Double(offsets.count) / seconds
    }

    private static let size = 4096
}
