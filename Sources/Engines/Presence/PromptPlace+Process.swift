// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
internal import LinuxSystem

extension PromptPlace {
    /// The place of this process, from its standard streams and its environment.
    public static func ofThisProcess() -> PromptPlace {
        var values: [PromptVariable: String] = [:]
        for variable in PromptVariable.allCases where variable != .terminal {
            values[variable] = SecureEnvironment.value(of: variable.rawValue)
        }
        values[.terminal] = OpenTerminal.pathOfThisProcess()
        return PromptPlace(values)
    }
}
