// SPDX-License-Identifier: Apache-2.0

/// The sort of a text: it tells how its values are written.
enum TextContext: Sendable {
    /// Code: values without quotes are expressions.
    case source
    /// Values may stand without quotes.
    case configuration
    /// A field of a database, a property list or an archive of objects.
    case record
    /// Command lines, and the output of programs.
    case history
    /// Text for people.
    case document
    /// Parts of it are text.
    case binary

    /// - Parameters:
    ///   - name: of the file, with its folders.
    ///   - head: the first bytes.
    init(name: String, head: ArraySlice<UInt8>) {
        if head.contains(0) {
            self = .binary
            return
        }
        let parts = name.lowercased().split(separator: "/")
        if parts.dropLast().contains(where: { Self.translations.contains($0) || $0.hasPrefix("locale") }) {
            self = .document
            return
        }
        let name = parts.last.map(String.init) ?? ""
        if Self.historyNames.contains(where: { name.hasSuffix($0) }) {
            self = .history
            return
        }
        let ending = name.split(separator: ".").last.map(String.init) ?? ""
        if name.contains("."), let known = Self.endings[ending] {
            self = known
        } else if head.starts(with: "#!".utf8) {
            self = .source
        } else if head.starts(with: "<?xml".utf8) || head.starts(with: "{".utf8) || head.starts(with: "[".utf8)
            || name.hasPrefix(".")
        {
            self = .configuration
        } else {
            self = .document
        }
    }

    /// Folders of texts in many languages.
    private static let translations: Set<Substring> = ["i18n", "l10n", "translations", "lang", "languages"]

    private static let historyNames = [
        "_history", ".log", "history", ".lesshst", ".viminfo", ".log.1", ".out", ".patch", ".diff",
    ]

    private static let endings: [String: TextContext] = {
        let groups: [(TextContext, String)] = [
            (
                .source,
                """
                swift m mm h c cc cpp cxx hpp java kt kts js mjs cjs ts tsx jsx py pyi go rs rb php cs fs scala pl pm sh \
                bash zsh fish ps1 lua r jl dart groovy gradle sql vue svelte tf nix ex exs erl hs clj el vim asm s map css
                """
            ),
            (
                .configuration,
                """
                json yaml yml toml ini cfg conf config env properties plist xml tfvars tfstate service desktop \
                npmrc pypirc netrc gitconfig reg ovpn rdp dockerconfigjson xcconfig entitlements local example \
                strings csv tsv ldif credentials keystore cnf jsonl ipynb pgpass
                """
            ),
            (
                .document,
                "md markdown rst txt html htm tex adoc org texi man pod po pot 1 2 3 4 5 6 7 8 9 changelog info svg"
            ),
        ]
        var endings: [String: TextContext] = [:]
        for (context, names) in groups {
            for name in names.split(separator: " ") { endings[String(name)] = context }
        }
        return endings
    }()
}
