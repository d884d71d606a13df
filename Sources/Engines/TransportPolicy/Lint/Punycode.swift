// SPDX-License-Identifier: Apache-2.0

/// The encoding of international labels (RFC 3492), for lists of names that are normalized already.
enum Punycode {
    /// Returns the label in ASCII: itself, or `xn--…`. Nil if it is longer than a label may be.
    static func label(_ text: Substring) -> String? {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count <= maxLength ? String(text) : nil }
        let scalars = text.unicodeScalars.map { Int($0.value) }
        // So that all numbers below are small.
        guard scalars.count <= maxLength, let digits = encode(scalars) else { return nil }
        let label = "xn--" + String(decoding: digits, as: UTF8.self)
        return label.utf8.count <= maxLength ? label : nil
    }

    private static let maxLength = 63
    // The parameters of RFC 3492, section 5.
    private static let (base, minThreshold, maxThreshold, skew, damp) = (36, 1, 26, 38, 700)

    private static func encode(_ scalars: [Int]) -> [UInt8]? {
        var output = scalars.filter { $0 < 0x80 }.compactMap { UInt8(exactly: $0) }
        let basicCount = output.count
        if basicCount > 0 { output.append(UInt8(ascii: "-")) }
        var (code, delta, bias, handled) = (0x80, 0, 72, basicCount)
        while handled < scalars.count {
            guard let next = scalars.filter({ $0 >= code }).min() else { return nil }
            delta += (next - code) &* (handled + 1)
            code = next
            for scalar in scalars {
                if scalar < code { delta += 1 }
                guard scalar == code else { continue }
                output += number(delta, bias)
                bias = adapted(delta, handled + 1, isFirst: handled == basicCount)
                (delta, handled) = (0, handled + 1)
            }
            (delta, code) = (delta + 1, code + 1)
        }
        return output
    }

    /// Returns the digits of a number; the base of each digit depends on its position.
    private static func number(_ value: Int, _ bias: Int) -> [UInt8] {
        var (rest, position, digits): (Int, Int, [UInt8]) = (value, base, [])
        while true {
            let threshold = min(max(position - bias, minThreshold), maxThreshold)
            guard rest >= threshold else { return digits + [digit(rest)] }
            digits.append(digit(threshold + (rest - threshold) % (base - threshold)))
            (rest, position) = ((rest - threshold) / (base - threshold), position + base)
        }
    }

    /// `a` to `z` for 0 to 25, `0` to `9` for 26 to 35.
    private static func digit(_ value: Int) -> UInt8 {
        UInt8(truncatingIfNeeded: value < 26 ? value + 0x61 : value - 26 + 0x30)
    }

    private static func adapted(_ delta: Int, _ count: Int, isFirst: Bool) -> Int {
        var delta = isFirst ? delta / damp : delta / 2
        delta += delta / count
        var steps = 0
        while delta > ((base - minThreshold) &* maxThreshold) / 2 {
            delta /= base - minThreshold
            steps += base
        }
        return steps + (base &* delta) / (delta + skew)
    }
}
