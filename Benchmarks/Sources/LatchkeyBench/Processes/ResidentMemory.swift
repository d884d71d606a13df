// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The memory of a process that has opened the keychain and looked up a hundred items, in KiB.
struct ResidentMemory: Codable {
    /// VmRSS.
    var residentKiB: Int
    /// VmHWM: the peak.
    var peakKiB: Int
    /// Pss: the resident memory, with shared pages counted in equal parts.
    var proportionalKiB: Int
    /// Private_Dirty: the memory that only this process has and has written.
    var privateDirtyKiB: Int

    /// Reads the values of this process from /proc.
    static func ofThisProcess() throws -> ResidentMemory {
        guard let status = ProcFile.read("/proc/self/status"),
            let resident = ProcFile.number(after: "VmRSS:", in: status),
            let peak = ProcFile.number(after: "VmHWM:", in: status),
            let maps = ProcFile.read("/proc/self/smaps_rollup"),
            let proportional = ProcFile.number(after: "Pss:", in: maps),
            let dirty = ProcFile.number(after: "Private_Dirty:", in: maps)
        else { throw BenchmarkFailure("/proc/self contains no resident memory") }
        return ResidentMemory(
            residentKiB: resident, peakKiB: peak, proportionalKiB: proportional, privateDirtyKiB: dirty)
    }

    /// Runs a new process that measures itself, because filling the keychain affects the memory of
    /// this process.
    static func ofFreshProcess(home: String, size: Int) throws -> ResidentMemory {
        ProgressLine.say("\(Text.grouped(size)) items: resident memory")
        let words = ["latchkey-bench", ResidentCommand.name, "--home", home, "--items", "\(size)"]
        let outcome = try ChildProcess.run(
            try WholeProcess.ownPath(), words, environment: WholeProcess.environment(home: home))
        guard outcome.exitValue == 0 else {
            throw BenchmarkFailure("resident memory: the child process exited with \(outcome.exitValue)")
        }
        return try JSONDecoder().decode(ResidentMemory.self, from: Data(outcome.output.utf8))
    }
}
