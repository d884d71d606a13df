// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The standard defaults.
enum DefaultsPromises {
    static func run() {
        let defaults = UserDefaults.standard
        say("same defaults") { defaults === UserDefaults.standard }
        defaults.register(defaults: ["registered": 7])
        say("registered") { defaults.integer(forKey: "registered") }
        say("registered in another object") { UserDefaults().integer(forKey: "registered") }
        defaults.set("text", forKey: "text")
        defaults.set(5, forKey: "number")
        defaults.set(1.5, forKey: "fraction")
        defaults.set(true, forKey: "truth")
        defaults.set(URL(filePath: "/tmp"), forKey: "place")
        defaults.set(["a", "b"], forKey: "list")
        defaults.set(Data([1, 2]), forKey: "data")
        // Twice, for one warning.
        for name in ["apiToken", "user_password"] { defaults.set("planted", forKey: name) }
        say("text") { defaults.string(forKey: "text") }
        say("number") { defaults.integer(forKey: "number") }
        say("fraction") { defaults.double(forKey: "fraction") }
        say("truth") { defaults.bool(forKey: "truth") }
        say("place") { defaults.url(forKey: "place") }
        say("list") { defaults.stringArray(forKey: "list") }
        say("data") { defaults.data(forKey: "data").map { Array($0) } }
        say("none") { defaults.object(forKey: "none") }
        say("another object") { UserDefaults().string(forKey: "text") }
        defaults.removeObject(forKey: "text")
        say("removed") { defaults.string(forKey: "text") }
        say("removed in another object") { UserDefaults().string(forKey: "text") }
        say("synchronize") { defaults.synchronize() }
    }
}
