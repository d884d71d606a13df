// SPDX-License-Identifier: Apache-2.0

internal import CLatchkey
internal import SecretMemory

/// A secret text in a normalized form, so that the same characters are the same text on every keyboard. Each copy of it
/// that is made on the way is wiped.
///
/// The form is NFKC of Unicode 15.0 (Unicode Standard Annex #15) of each segment: a scalar with the marks that follow
/// it, or the jamos of a syllable. NFKC of the whole text would compose some segments with the one before, such as the
/// halfwidth `ｶﾞ`. Foundation's `precomposedStringWithCompatibilityMapping` returns the same form on Linux; the keys of
/// older passcodes are derived from it.
struct NormalizedText {
    let utf8: SharedSecret
    /// The number of characters as users perceive them (grapheme clusters).
    let length: Int

    /// Nil if the bytes are not UTF-8.
    init?(utf8 text: SharedSecret) {
        if text.withUnsafeBytes({ $0.allSatisfy { $0 < 0x80 } }) {
            (utf8, length) = (text, text.count)
            return
        }
        guard let decomposed = text.withUnsafeBytes(Self.decomposed) else { return nil }
        utf8 = Self.composed(decomposed)
        length = utf8.withUnsafeBytes(Self.length)
    }

    /// The decomposition of each segment in canonical order. Nil if the text is not UTF-8.
    private static func decomposed(_ text: UnsafeRawBufferPointer) -> SharedSecret? {
        guard let text = try? UTF8Span(validating: text.bindMemory(to: UInt8.self).span) else { return nil }
        var count = 0
        forEachPart(of: text) { _ in count += 1 }
        return SharedSecret(
            SecretBytes(count: count * MemoryLayout<Part>.stride) { memory in
                let parts = memory.bindMemory(to: Part.self)
                var end = 0
                forEachPart(of: text) { part in
                    parts[end] = part
                    sort(parts, lastAt: end)
                    end += 1
                }
            })
    }

    private static func forEachPart(of text: borrowing UTF8Span, _ body: (Part) -> Void) {
        var (iterator, previous) = (text.makeUnicodeScalarIterator(), UInt32(0))
        while let scalar = iterator.next()?.value {
            var beginsSegment = Part.beginsSegment(scalar, after: previous)
            func add(_ part: UInt32) {
                body(Part(part, beginsSegment: beginsSegment))
                beginsSegment = false
            }
            var count = 0
            if let syllable = HangulSyllable(scalar) {
                syllable.forEachJamo(add)
            } else if let decomposition = latchkey_decomposition(scalar, &count) {
                UnsafeBufferPointer(start: decomposition, count: count).forEach(add)
            } else {
                add(scalar)
            }
            previous = scalar
        }
    }

    /// Moves the last part before those of its segment that have a higher combining class.
    private static func sort(_ parts: UnsafeMutableBufferPointer<Part>, lastAt end: Int) {
        guard parts[end].combiningClass != 0 else { return }
        var place = end
        while place > 0, !parts[place].beginsSegment,
            parts[place - 1].combiningClass > parts[place].combiningClass
        {
            Part.swapScalars(&parts[place], &parts[place - 1])
            place -= 1
        }
    }

    /// Returns the UTF-8 of the composed result of ``decomposed(_:)``.
    private static func composed(_ decomposed: SharedSecret) -> SharedSecret {
        var partCount = 0
        let composed = SecretBytes(count: decomposed.count) { memory in
            decomposed.withUnsafeBytes { memory.copyMemory(from: $0) }
            partCount = compose(memory.bindMemory(to: Part.self))
        }
        return composed.withUnsafeBytes { memory in
            let scalars = memory.bindMemory(to: Part.self).prefix(partCount).lazy.compactMap {
                Unicode.Scalar($0.scalar)
            }
            return SharedSecret(
                SecretBytes(count: scalars.reduce(0) { $0 + UTF8.width($1) }) { utf8 in
                    var end = 0
                    for scalar in scalars {
                        for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter {
                            utf8[end] = byte
                            end += 1
                        }
                    }
                })
        }
    }

    /// Composes the parts in place; returns how many are left.
    private static func compose(_ parts: UnsafeMutableBufferPointer<Part>) -> Int {
        var (end, starter, lastClass) = (0, Int?.none, UInt8(0))
        for part in parts {
            let combiningClass = part.combiningClass
            if part.beginsSegment {
                starter = nil
            } else if let starter, lastClass == 0 || lastClass < combiningClass,
                let composition = parts[starter].composed(with: part)
            {
                parts[starter] = composition
                continue
            }
            if combiningClass == 0 { starter = end }
            lastClass = combiningClass
            parts[end] = part
            end += 1
        }
        return end
    }

    private static func length(_ utf8: UnsafeRawBufferPointer) -> Int {
        guard let text = try? UTF8Span(validating: utf8.bindMemory(to: UInt8.self).span) else { return 0 }
        var (characters, length) = (text.makeCharacterIterator(), 0)
        while characters.skipForward() > 0 { length += 1 }
        return length
    }
}

/// A scalar of a decomposition.
private struct Part {
    private(set) var scalar: UInt32
    let beginsSegment: Bool

    init(_ scalar: UInt32, beginsSegment: Bool) {
        (self.scalar, self.beginsSegment) = (scalar, beginsSegment)
    }

    var combiningClass: UInt8 { latchkey_combining_class(scalar) }

    static func swapScalars(_ one: inout Part, _ other: inout Part) { swap(&one.scalar, &other.scalar) }

    func composed(with next: Part) -> Part? {
        let composition =
            HangulSyllable(composing: scalar, next.scalar)?.scalar ?? latchkey_composition(scalar, next.scalar)
        return composition == 0 ? nil : Part(composition, beginsSegment: beginsSegment)
    }

    /// Whether a scalar of the text is neither a mark nor a jamo that continues a syllable.
    static func beginsSegment(_ scalar: UInt32, after previous: UInt32) -> Bool {
        latchkey_combining_class(scalar) == 0 && latchkey_is_spacing_mark(scalar) == 0
            && !HangulSyllable.continues(scalar, after: previous)
    }
}

/// A Hangul syllable with calculated parts (Unicode Standard, section 3.12).
private struct HangulSyllable {
    let scalar: UInt32

    private static let syllables = UInt32(0xAC00)...0xD7A3
    private static let (leads, vowels, trails) = (
        UInt32(0x1100)...0x1112, UInt32(0x1161)...0x1175, UInt32(0x11A8)...0x11C2
    )
    private static let vowelCount = UInt32(vowels.count)
    /// With the syllable that has none.
    private static let trailCount = UInt32(trails.count + 1)

    init?(_ scalar: UInt32) {
        guard Self.syllables.contains(scalar) else { return nil }
        self.scalar = scalar
    }

    /// A leading consonant and a vowel, or a syllable of both and a trailing consonant.
    init?(composing one: UInt32, _ other: UInt32) {
        if Self.leads.contains(one), Self.vowels.contains(other) {
            let (lead, vowel) = (one - Self.leads.lowerBound, other - Self.vowels.lowerBound)
            scalar = Self.syllables.lowerBound + (lead * Self.vowelCount + vowel) * Self.trailCount
        } else if let open = HangulSyllable(one), open.trail == 0, Self.trails.contains(other) {
            scalar = one + 1 + other - Self.trails.lowerBound
        } else {
            return nil
        }
    }

    /// Whether a jamo belongs to the syllable of the one before.
    static func continues(_ jamo: UInt32, after previous: UInt32) -> Bool {
        leads.contains(previous) && vowels.contains(jamo) || vowels.contains(previous) && trails.contains(jamo)
    }

    func forEachJamo(_ body: (UInt32) -> Void) {
        let pair = (scalar - Self.syllables.lowerBound) / Self.trailCount
        body(Self.leads.lowerBound + pair / Self.vowelCount)
        body(Self.vowels.lowerBound + pair % Self.vowelCount)
        if trail != 0 { body(Self.trails.lowerBound + trail - 1) }
    }

    private var trail: UInt32 { (scalar - Self.syllables.lowerBound) % Self.trailCount }
}
