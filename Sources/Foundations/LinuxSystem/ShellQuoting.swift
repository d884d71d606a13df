// SPDX-License-Identifier: Apache-2.0

extension String {
    /// The text as one word of a shell's command line: unchanged, or in single quotes.
    public var shellQuoted: String {
        let isPlain =
            !isEmpty
            && utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                    || "%+,-./:=@_".utf8.contains(byte)
            }
        if isPlain { return self }
        var quoted = "'"
        for scalar in unicodeScalars {
            if scalar == "'" { quoted += #"'\''"# } else { quoted.unicodeScalars.append(scalar) }
        }
        return quoted + "'"
    }
}
