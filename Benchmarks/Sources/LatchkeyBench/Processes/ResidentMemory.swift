// SPDX-License-Identifier: Apache-2.0

import Foundation

/// How much memory a process holds that opened the keychain and looked up a hundred items.
struct ResidentMemory: Codable {
    /// VmRSS.
    var residentKiB: Int
    /// VmHWM: the most it ever was.
    var peakKiB: Int

    /// What /proc says of this process.
    static func ofThisProcess() throws -> ResidentMemory {
        guard let status = ProcFile.read("/proc/self/status"),
            let resident = ProcFile.number(after: "VmRSS:", in: status),
            let peak = ProcFile.number(after: "VmHWM:", in: status)
        else { throw BenchmarkFailure("/proc/self/status does not say how much memory is resident") }
        return ResidentMemory(residentKiB: resident, peakKiB: peak)
    }

    /// What a process measures of itself that did nothing else: filling leaves its traces in the one that did it.
    static func ofFreshProcess(home: String, size: Int) throws -> ResidentMemory {
        ProgressLine.say("\(Text.grouped(size)) items: resident memory")
        let words = ["latchkey-bench", ResidentCommand.name, "--home", home, "--items", "\(size)"]
        let outcome = try ChildProcess.run(
            try WholeProcess.ownPath(), words, environment: WholeProcess.environment(home: home))
        guard outcome.exitValue == 0 else {
            throw BenchmarkFailure("resident memory: the child process exited \(outcome.exitValue)")
        }
        return try JSONDecoder().decode(ResidentMemory.self, from: Data(outcome.output.utf8))
    }
}
