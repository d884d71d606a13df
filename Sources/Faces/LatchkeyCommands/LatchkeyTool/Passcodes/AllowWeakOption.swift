// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeychainModel
internal import LatchkeyService
internal import LinuxSystem
internal import SecretMemory

/// Whether a new passcode or passphrase may be a very common one.
struct AllowWeakOption: ParsableArguments {
    @Flag(help: "Accept a very common passcode or passphrase.")
    var weak = false

    /// Returns the secret if it is not a very common one, or if `--weak` is given. Warns about a
    /// short one.
    ///
    /// - Throws: errSecParam, with the option as the hint.
    func require(_ new: SharedSecret, noun: String = "passcode", in session: CommandSession) throws(CommandFailure)
        -> SharedSecret
    {
        if !weak {
            do throws(KeychainError) {
                try PasscodeRules.requireUncommon(new, noun: noun)
            } catch {
                throw .status(
                    KeychainError(error.status, error.problem, hint: "choose another one, or use --weak to accept it")
                )
            }
        }
        // Counts every byte except the continuation bytes of UTF-8.
        let length = new.withUnsafeBytes { $0.reduce(0) { $0 + ($1 & 0xC0 == 0x80 ? 0 : 1) } }
        if length < Self.safeLength, !session.isQuiet {
            session.io.say(
                """
                latchkey: a \(noun) of fewer than \(Self.safeLength) characters can be guessed by an attacker with \
                the files and the device key

                """
            )
        }
        return new
    }

    private static let safeLength = 15
}
