// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeychainModel
internal import LatchkeyService
internal import LinuxSystem
internal import SecretMemory

/// Whether a new passcode or passphrase may be one that is guessed first.
struct AllowWeakOption: ParsableArguments {
    @Flag(help: "Take one that is among the commonest, too.")
    var weak = false

    /// The secret, after it was found to be no first guess, or `--weak` was said. A short one is taken with a warning.
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
                    KeychainError(error.status, error.problem, hint: "choose another one; --weak takes it nevertheless")
                )
            }
        }
        // Every byte but those that go on with a character of UTF-8.
        let length = new.withUnsafeBytes { $0.reduce(0) { $0 + ($1 & 0xC0 == 0x80 ? 0 : 1) } }
        if length < Self.safeLength, !session.isQuiet {
            session.io.say(
                "latchkey: a \(noun) of fewer than \(Self.safeLength) characters can be guessed by a thief of the files and the device key\n"
            )
        }
        return new
    }

    private static let safeLength = 15
}
