// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyOperations
internal import LatchkeyService
internal import SecretMemory

/// `security set-keychain-password`.
enum SetKeychainPassword: SecurityCommand {
    static let definition = CommandDefinition(
        name: "set-keychain-password",
        summary: "Change the password of a keychain.",
        options: [
            CommandOption("-o", .required("password"), help: "the old password; visible to every process"),
            CommandOption("-p", .required("password"), help: "the new password; visible to every process"),
        ],
        operands: "[keychain]",
        notes: ["Passwords that are not given are asked for, the new one twice."],
        examples: ["set-keychain-password build.keychain"])

    static func run(_ arguments: ParsedArguments, in session: CommandSession) throws(CommandFailure) {
        let keychain = try KeychainOperand.one(of: arguments.operands, in: session)
        try keychain.requireChangeable()
        let service = keychain.session
        let hasPassword = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            try service.lockStatus().hasPasscode
        }
        var old = arguments["-o"]?.secret
        if old == nil, hasPassword { old = try KeychainPassword.old(in: session) }
        let new = try KeychainPassword.new(arguments, in: session)
        let progress = ProgressLine("items re-encrypted", io: session.io)
        defer { progress.clear() }
        try CommandFailure.mapErrors("SecKeychainChangePassword") { () throws(KeychainError) in
            switch (hasPassword ? old : nil, new.count > 0) {
            case (let old?, true):
                try service.changePasscode(from: old, to: new, rotates: false) { progress.show($0, of: $1) }
            case (let old?, false): _ = try service.removePasscode(old) { progress.show($0, of: $1) }
            case (nil, true): try service.setPasscode(new) { progress.show($0, of: $1) }
            case (nil, false): return
            }
        }
    }
}
