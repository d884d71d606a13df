// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import KeychainModel

/// The whole environment of the program that prompts. It has nothing of this process's environment, because that
/// environment may contain secrets, or variables that make a library load another one.
struct PinentryEnvironment {
    /// The variables, as `NAME=value`.
    let entries: [String]

    init(for program: PinentryProgram, at place: PromptPlace, user: UInt32) {
        var entries = ["PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8"]
        if let type = place[.terminalType] { entries.append("TERM=\(type)") }
        if program.kind == .graphical {
            for variable in [PromptVariable.display, .waylandDisplay, .authorityFile, .sessionBus] {
                if let value = place[variable] { entries.append("\(variable.rawValue)=\(value)") }
            }
            entries.append("XDG_RUNTIME_DIR=/run/user/\(user)")
            if let home = Self.home(of: user) { entries.append("HOME=\(home)") }
        }
        self.entries = entries
    }

    /// The home directory of the user according to the system, where X clients look for cookies.
    private static func home(of user: UInt32) -> String? {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4096) { buffer in
            guard let start = buffer.baseAddress,
                getpwuid_r(user, &entry, start, buffer.count, &found) == 0, found != nil,
                let directory = entry.pw_dir
            else { return nil }
            return String(cString: directory)
        }
    }
}
