// SPDX-License-Identifier: Apache-2.0

/// The speeds of one way to store a big file, in MiB per second.
struct BigFileSpeeds {
    var write = 0.0
    /// From the kernel's cache.
    var warm = 0.0
    /// From the disk.
    var cold = FileFigure.success(0)
    /// How the kernel's cache was emptied.
    var coldMethods: Set<ColdCache.Method> = []
}

/// Writes and reads a big file in several ways, in turn.
struct BigFileComparison {
    let content: BigFileContent
    let rounds: Int

    /// The ways that are compared.
    struct Contenders {
        var plain: Result<any BigFileContender, MissingTool>
        var latchkey: Result<any BigFileContender, MissingTool>
        var age: Result<any BigFileContender, MissingTool>
        var gocryptfs: Result<any BigFileContender, MissingTool>
        /// `latchkey mount`.
        var folder: Result<any BigFileContender, MissingTool>
    }

    func rows(_ contenders: Contenders) throws -> [FilesRow] {
        let speeds = try measure([
            contenders.plain, contenders.latchkey, contenders.age, contenders.gocryptfs, contenders.folder,
        ])
        var methods: Set<String> = []
        for case .success(let speed) in speeds { methods.formUnion(speed.coldMethods.map(\.rawValue)) }
        let how = methods.isEmpty ? "" : " (\(methods.sorted().joined(separator: ", ")))"
        return rows("write", speeds) { .success($0.write) }
            + rows("read, warm", speeds) { .success($0.warm) }
            + rows("read, cold\(how)", speeds) { $0.cold }
    }

    private func rows(
        _ verb: String, _ speeds: [Result<BigFileSpeeds, MissingTool>], _ part: (BigFileSpeeds) -> FileFigure
    ) -> [FilesRow] {
        let figures = speeds.map { $0.flatMap(part) }
        let (plain, latchkey, age, gocryptfs, folder) = (figures[0], figures[1], figures[2], figures[3], figures[4])
        let (file, view) = ("\(content.mebibytes) MiB: \(verb)", "mounted, \(content.mebibytes) MiB: \(verb)")
        return [
            FilesRow(file, "MiB/s", latchkey, "plain", plain, .ratio(0.6)),
            FilesRow(file, "MiB/s", latchkey, "age", age, .ratio(2)),
            FilesRow(file, "MiB/s", latchkey, "gocryptfs", gocryptfs),
            FilesRow(view, "MiB/s", folder, "gocryptfs", gocryptfs, .ratio(1)),
        ]
    }

    /// Returns the best speeds of each way, in the order of the ways.
    private func measure(
        _ contenders: [Result<any BigFileContender, MissingTool>]
    ) throws -> [Result<BigFileSpeeds, MissingTool>] {
        var speeds = contenders.map { contender in contender.map { _ in BigFileSpeeds() } }
        for round in 1...rounds {
            for index in contenders.indices {
                guard case .success(let contender) = contenders[index], case .success(var best) = speeds[index] else {
                    continue
                }
                ProgressLine.say("\(content.mebibytes) MiB, \(contender.name): round \(round) of \(rounds)")
                try measure(contender, into: &best)
                speeds[index] = .success(best)
            }
        }
        return speeds
    }

    private func measure(_ contender: any BigFileContender, into best: inout BigFileSpeeds) throws {
        try contender.remove()
        let seconds = try Stopwatch.seconds { try contender.write(content) }
        best.write = max(best.write, speed(seconds))
        // Read once, everything is in the kernel's cache.
        _ = try readingSpeed(contender)
        let warm = try readingSpeed(contender)
        best.warm = max(best.warm, warm)
        guard let method = ColdCache.drop([contender.path] + contender.stores) else {
            best.cold = .failure(MissingTool("the kernel does not empty its cache here"))
            return
        }
        best.coldMethods.insert(method)
        let cold = try readingSpeed(contender)
        best.cold = best.cold.map { max($0, cold) }
    }

    private func readingSpeed(_ contender: any BigFileContender) throws -> Double {
        var reading: BigFileReading?
        let seconds = try Stopwatch.seconds { reading = try contender.read() }
        if let reading { try content.verify(reading, of: contender.name) }
        return speed(seconds)
    }

    private func speed(_ seconds: Double) -> Double { Double(content.mebibytes) / seconds }
}
