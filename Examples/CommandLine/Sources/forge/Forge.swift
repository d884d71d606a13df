// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ForgeTokens

/// A tool for the accounts of servers. The keychain has the tokens; no file and no argument has one.
@main
struct Forge: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forge", abstract: "Sign in to servers.",
        subcommands: [SignIn.self, Token.self, Accounts.self, SignOut.self])
}

/// The account that a command is about.
struct AccountOptions: ParsableArguments {
    @Argument(help: "The host name of the server.")
    var server: String

    @Option(name: .shortAndLong, help: "The name of the account.")
    var account: String

    var chosen: TokenStore.Account { TokenStore.Account(server: server, name: account) }
}

struct SignIn: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign-in", abstract: "Store a token, which is read from standard input.")

    @OptionGroup var options: AccountOptions

    func run() throws {
        guard let token = readLine(), !token.isEmpty else { throw ValidationError("expected a token, found nothing") }
        try TokenStore().save(token, for: options.chosen)
        print("signed in: \(options.chosen)")
    }
}

struct Token: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "token", abstract: "Print the token of an account.")

    @OptionGroup var options: AccountOptions

    func run() throws {
        guard let token = try TokenStore().token(for: options.chosen) else { throw Missing(account: options.chosen) }
        print(token)
    }
}

struct Accounts: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "accounts", abstract: "List the accounts.")

    func run() throws {
        for account in try TokenStore().accounts() { print(account) }
    }
}

struct SignOut: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign-out", abstract: "Remove the token of an account.")

    @OptionGroup var options: AccountOptions

    func run() throws {
        guard try TokenStore().remove(options.chosen) else { throw Missing(account: options.chosen) }
        print("signed out: \(options.chosen)")
    }
}

struct Missing: Error, CustomStringConvertible {
    let account: TokenStore.Account

    var description: String { "there is no token for \(account); sign in with: forge sign-in" }
}
