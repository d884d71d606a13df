// SPDX-License-Identifier: Apache-2.0

import Foundation
import GateKeeper
import LocalAuthentication
import Security

/// Stores an item that opens with a password of the program, and reports whether the owner could be asked.
func gateKeeperCheck() throws -> String {
    let contradiction = try failure("GateKeeper: contradictory flags") {
        _ = try GuardedItem.accessControl([.biometryAny, .biometryCurrentSet])
    }
    guard case GuardedItem.Failure.accessControl(let reason?) = contradiction else {
        throw WrongResult(description: "GateKeeper: expected a reason, found \(contradiction)")
    }
    try expect("GateKeeper: contradictory flags", CFErrorGetCode(reason), Int(errSecParam))

    let item = GuardedItem(service: "sdk.guarded", account: "alice")
    try item.remove()
    try item.store(Data("s3cret".utf8), flags: .applicationPassword, context: context(password: "password"))
    let secret = try item.secret(context(password: "password"))
    try expect("GateKeeper: the secret", secret, Data("s3cret".utf8))

    let closed = try failure("GateKeeper: no password") { _ = try item.secret(context(password: nil)) }
    guard case GuardedItem.Failure.status(let status) = closed else {
        throw WrongResult(description: "GateKeeper: expected a status, found \(closed)")
    }
    try expect("GateKeeper: no password", status, errSecInteractionNotAllowed)

    let owner: String
    switch GateKeeper().availability() {
    case .available: owner = "the owner can be asked"
    case .unavailable(let code): owner = "the owner cannot be asked (\(code))"
    }
    return "GateKeeper: the item opens with its password, without it \(status); \(owner)"
}

/// A context that displays no prompt.
private func context(password: String?) -> LAContext {
    let context = LAContext()
    context.interactionNotAllowed = true
    if let password = password { context.setCredential(Data(password.utf8), type: .applicationPassword) }
    return context
}
