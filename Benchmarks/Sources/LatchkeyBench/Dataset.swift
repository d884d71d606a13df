// SPDX-License-Identifier: Apache-2.0

/// One of the items on both sides: a generic password that its number determines completely.
///
/// Numbers are padded with zeros, so that the rows of all items have the same length. All values
/// are created in advance, so that they are not measured.
struct Item {
    let number: Int
    let account: String
    /// The service. A hundred consecutive items share it.
    let service: String
    let label: String
    /// The initial secret: 20 bytes.
    let secret: [UInt8]
    /// The secret after an update: 20 other bytes.
    let replacement: [UInt8]

    init(_ number: Int) {
        self.number = number
        account = "account-\(Self.digits(number, 7))"
        service = "service-\(Self.digits(number / Self.itemsPerService, 5))"
        label = "label-\(Self.digits(number, 7))"
        secret = Array("secret-\(Self.digits(number, 13))".utf8)
        replacement = Array("update-\(Self.digits(number, 13))".utf8)
    }

    /// Whether the bytes begin with the initial or the updated secret of this item.
    func owns(_ bytes: some Collection<UInt8>) -> Bool {
        bytes.starts(with: secret) || bytes.starts(with: replacement)
    }

    /// The number of items among the first `size` that have this item's service.
    func siblings(in size: Int) -> Int {
        min(Self.itemsPerService, size - number / Self.itemsPerService * Self.itemsPerService)
    }

    static let itemsPerService = 100
    /// The maximum size with numbers that fit the padding, with space for the items that measurements add.
    static let maxSize = 9_000_000

    private static func digits(_ number: Int, _ count: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, count - digits.utf8.count)) + digits
    }
}

/// Selects items at random, the same ones in every run.
struct ItemPicker {
    private var generator = SeededGenerator(state: 0x4C4B_4559)

    /// Returns `count` of the first `size` items, possibly with repetitions.
    mutating func items(_ count: Int, below size: Int) -> [Item] {
        var items: [Item] = []
        for _ in 0..<count { items.append(Item(Int.random(in: 0..<size, using: &generator))) }
        return items
    }

    /// Returns `count` different items of the first `size`, or all of them if there are fewer.
    mutating func distinctItems(_ count: Int, below size: Int) -> [Item] {
        var seen: Set<Int> = []
        var items: [Item] = []
        while items.count < min(count, size) {
            let number = Int.random(in: 0..<size, using: &generator)
            if seen.insert(number).inserted { items.append(Item(number)) }
        }
        return items
    }

    /// Returns the first items of `count` complete services, or of the only service if none is
    /// complete.
    mutating func services(_ count: Int, below size: Int) -> [Item] {
        items(count, below: max(1, size / Item.itemsPerService)).map { Item($0.number * Item.itemsPerService) }
    }
}

/// SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014). It is
/// not used for secrets.
struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}
