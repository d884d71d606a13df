// SPDX-License-Identifier: Apache-2.0

import Foundation
import FoundationNetworking

guard let url = URL(string: CommandLine.arguments[1]) else { exit(2) }
do {
    let (data, _) = try await URLSession.shared.data(from: url)
    print("loaded \(String(decoding: data, as: UTF8.self))")
} catch { print("refused \((error as NSError).code)") }
