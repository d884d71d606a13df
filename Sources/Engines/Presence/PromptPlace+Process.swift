// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
internal import LinuxSystem

extension PromptPlace {
    /// The place of this process, from its standard streams and its environment.
    ///
    /// - Parameter terminal: the path of a terminal in place of that of the streams.
    public static func ofThisProcess(terminal: String? = nil) -> PromptPlace {
        var values: [PromptVariable: String] = [:]
        for variable in PromptVariable.allCases where variable != .terminal {
            values[variable] = SecureEnvironment.value(of: variable.rawValue)
        }
        values[.terminal] = terminal ?? OpenTerminal.pathOfThisProcess()
        return PromptPlace(values)
    }
}
