// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// Numbers of items: `1000` or `10,1000,100000`.
struct SizeList: ExpressibleByArgument {
    let sizes: [Int]

    init?(argument: String) {
        let words = argument.split(separator: ",")
        sizes = words.compactMap { Int($0) }.filter { (1...Item.maxSize).contains($0) }
        guard !words.isEmpty, sizes.count == words.count else { return nil }
    }
}
