// SPDX-License-Identifier: Apache-2.0

import Glibc
import KeychainModel
@testable import Presence

extension PresenceRequest {
    /// Returns a question with every text far too long.
    static func longest(place: PromptPlace = .none, filler: String = "long ") -> PresenceRequest {
        let text = String(repeating: filler, count: 1000)
        var program = CallerIdentity(
            executable: "/" + text, declaredGroups: [text], sandbox: .application(group: text),
            process: CallerIdentity.ProcessIdentity(user: .max, process: .max))
        program.isUserCommand = false
        return PresenceRequest(
            .passcode, user: .max, program: program, subject: .item(label: text, identifier: "1"), reason: text,
            place: place, previousFailure: .wrongSecret(attemptsLeft: 2))
    }
}
