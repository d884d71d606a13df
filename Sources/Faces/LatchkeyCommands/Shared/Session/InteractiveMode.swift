// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem
internal import SecretMemory

/// Reads commands from standard input, one per line, until its end (`security -i`).
enum InteractiveMode {
    /// - Returns: the status of the last command; 0 if there was none.
    static func run(prompt: TerminalText, in session: CommandSession) -> Int32 {
        var session = session
        session.readsCommands = true
        var status: Int32 = 0
        while true {
            if session.io.isInputInteractive { session.io.say(prompt) }
            let words: [CommandWord]
            do throws(KeychainError) {
                guard let line = try session.io.readLine() else { return status }
                words = line.withUnsafeBytes { LineTokenizer.split($0) }
            } catch {
                session.report(.status(error), of: "standard input")
                return error.status.rawValue
            }
            guard let name = words.first else { continue }
            status = Dispatcher.execute(words[...], in: session)
            if status != 0, !session.isQuiet { session.io.say("\(name.text): returned \(status)\n") }
        }
    }
}
