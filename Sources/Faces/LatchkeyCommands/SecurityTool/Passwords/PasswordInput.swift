// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem
internal import SecretMemory

/// The password that an add command stores, from any source.
enum PasswordInput {
    /// - Returns: nil if no option sets a password.
    static func read(_ arguments: ParsedArguments, in session: CommandSession) throws(CommandFailure) -> SharedSecret? {
        for occurrence in arguments.occurrences.reversed() {
            switch occurrence.option.meaning {
            case .password:
                if let word = occurrence.value { return word.secret }
                return try promptTwice(in: session)
            case .hexadecimalPassword:
                guard let word = occurrence.value else { continue }
                return try hexadecimal(word, for: occurrence.option)
            case .secretFile:
                guard let word = occurrence.value else { continue }
                return try file(word, in: session)
            case .plain, .attribute, .accessGroup:
                continue
            }
        }
        return nil
    }

    private static func hexadecimal(_ word: CommandWord, for option: CommandOption) throws(CommandFailure)
        -> SharedSecret
    {
        let digits = word.dropping(word.hasPrefix("0x") || word.hasPrefix("0X") ? 2 : 0)
        guard let secret = digits.secret.withUnsafeBytes(SharedSecret.ofHexadecimal) else {
            throw .parameter(
                "the value of \(option.name) must be hexadecimal: an even number of the digits 0 to 9 and a to f")
        }
        return secret
    }

    /// Reads the whole file, or standard input if the file is `-`.
    private static func file(_ path: CommandWord, in session: CommandSession) throws(CommandFailure) -> SharedSecret {
        if path == "-" {
            guard !session.readsCommands else {
                throw .usage("--secret-file - and commands cannot both be read from standard input")
            }
            return session.io.isInputInteractive ? try promptTwice(in: session) : try readToEnd(of: session)
        }
        let secret = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            try SecretInput.read(path.path, maxCount: SecretInput.maxSecretCount)
        }
        guard secret.count > 0 else { throw .parameter("\(path.path) is empty; a password was expected") }
        return SecretInput.withoutFinalLineEnd(secret)
    }

    // MARK: Prompts

    private static func promptTwice(in session: CommandSession) throws(CommandFailure) -> SharedSecret {
        guard session.io.isInputInteractive else {
            guard session.readsCommands else { return try repeated(try readToEnd(of: session)) }
            // Programs that pipe commands into `security -i` also send the repetition that macOS
            // asks for. If it were read as a command, it would be printed as an unknown one.
            let password = try line(in: session)
            try check(password, against: try line(in: session))
            return password
        }
        let password = try answer(to: "password data for new item: ", in: session)
        try check(password, against: try answer(to: "retype password for new item: ", in: session))
        return password
    }

    /// Returns one of two equal lines: on macOS the command prompts twice, and programs write both
    /// answers into its pipe. Input with another number of lines is the password as it is.
    private static func repeated(_ input: SharedSecret) throws(CommandFailure) -> SharedSecret {
        let lines = input.withUnsafeBytes { bytes in
            bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 2, omittingEmptySubsequences: false)
                .map { SharedSecret(copying: $0) }
        }
        guard lines.count == 2 else { return input }
        try check(
            lines[0], against: lines[1],
            hint: "two lines are a password and its repetition; --secret-file - stores both lines")
        return lines[0]
    }

    private static func readToEnd(of session: CommandSession) throws(CommandFailure) -> SharedSecret {
        let secret = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            try session.io.readInput(maxCount: SecretInput.maxSecretCount)
        }
        guard let secret else {
            throw .parameter(
                "standard input is empty; a password was expected",
                hint: "printf '%s' \"$password\" | security add-generic-password -a ACCOUNT -s SERVICE -w")
        }
        return SecretInput.withoutFinalLineEnd(secret)
    }

    private static func line(in session: CommandSession) throws(CommandFailure) -> SharedSecret {
        let line = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in try session.io.readLine() }
        guard let line else {
            throw .parameter(
                "standard input ended; a line with the password was expected",
                hint: "in 'security -i', the password follows the command on two equal lines")
        }
        return line
    }

    private static func answer(to prompt: StaticString, in session: CommandSession) throws(CommandFailure)
        -> SharedSecret
    {
        do throws(KeychainError) {
            guard let answer = try session.io.readSecret(prompt: prompt) else { throw KeychainError(.userCanceled) }
            return answer
        } catch {
            // Ends the line of the prompt, so that the message begins on a line of its own.
            if error.status == .userCanceled { session.io.say("\n") }
            throw .status(error)
        }
    }

    private static func check(
        _ password: SharedSecret, against repetition: SharedSecret, hint: String? = nil
    ) throws(CommandFailure) {
        guard password == repetition else { throw .line("passwords don't match", hint: hint) }
    }
}
