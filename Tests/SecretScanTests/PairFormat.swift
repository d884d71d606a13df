// SPDX-License-Identifier: Apache-2.0

import Foundation
import LinuxSystem

/// A format that holds a name with a value.
struct PairFormat: Sendable {
    typealias File = (name: String, bytes: [UInt8], log: [UInt8])

    let title: String
    /// Whether other secrets than passwords stand in it as they are.
    let holdsTokens: Bool
    let write: @Sendable (_ name: String, _ value: String, inout PlantedCorpus) -> File

    private init(
        _ title: String, holdsTokens: Bool = true,
        _ write: @escaping @Sendable (String, String, inout PlantedCorpus) -> File
    ) {
        (self.title, self.holdsTokens, self.write) = (title, holdsTokens, write)
    }

    /// A text. `NAME` and `VALUE` stand for the pair.
    private static func text(_ title: String, _ file: String, holdsTokens: Bool = true, _ template: String)
        -> PairFormat
    {
        PairFormat(title, holdsTokens: holdsTokens) { name, value, _ in
            (file, Array(template.replacing("NAME", with: name).replacing("VALUE", with: value).utf8), [])
        }
    }

    /// Bytes that are made from a text.
    private static func wrapped(
        _ title: String, _ file: String, _ inner: PairFormat, _ wrap: @escaping @Sendable (File) -> [UInt8]
    ) -> PairFormat {
        PairFormat(title) { name, value, corpus in (file, wrap(inner.write(name, value, &corpus)), []) }
    }

    static let all = configurations + sources + histories + files + stores + archives + encodings

    // MARK: Texts

    private static let environment = text("environment file", ".env", "# settings\nDEBUG=1\nNAME=VALUE\nPORT=8080\n")
    private static let ini = text("INI", "app.ini", "[server]\nhost = db.internal\nNAME = VALUE\ntimeout = 30\n")
    private static let yaml = text("YAML", "config.yaml", "server:\n  host: db.internal\n  NAME: VALUE\n  port: 5432\n")

    private static let configurations: [PairFormat] = [
        environment, ini, yaml,
        text("quoted environment file", "prod.env", "export NAME=\"VALUE\"\n"),
        text("TOML", "app.toml", "[server]\nhost = \"db\"\n\"NAME\" = \"VALUE\"\n"),
        text("quoted YAML", "values.yml", "env:\n  - 'NAME': 'VALUE'\n"),
        text("JSON", "settings.json", "{\"a\": [1, 2], \"NAME\": \"VALUE\", \"b\": null}"),
        text("JSON in JSON", "state.json", "{\"body\": \"{\\\"NAME\\\": \\\"VALUE\\\"}\"}"),
        text("properties", "application.properties", "spring.name=a\nspring.NAME=VALUE\n"),
        text("XML element", "context.xml", "<?xml version=\"1.0\"?><a><NAME>VALUE</NAME></a>"),
        text("XML attribute", "server.xml", "<?xml version=\"1.0\"?><Resource url=\"jdbc:x\" NAME=\"VALUE\"/>"),
        text(
            "XML property list", "com.app.plist",
            "<?xml version=\"1.0\"?>\n<plist version=\"1.0\"><dict>\n<key>NAME</key>\n<string>VALUE</string></dict></plist>"
        ),
        text(
            "Android preferences", "prefs.xml",
            "<?xml version='1.0'?>\n<map>\n  <string name=\"NAME\">VALUE</string>\n</map>"),
        text("Android strings", "strings.xml", "<resources><item name=\"NAME\" value=\"VALUE\" /></resources>"),
        text("Terraform variables", "prod.tfvars", "region = \"eu\"\nNAME = \"VALUE\"\n"),
        text("Compose", "docker-compose.yml", "services:\n  db:\n    environment:\n      - NAME=VALUE\n"),
        text("systemd unit", "app.service", "[Service]\nEnvironment=\"NAME=VALUE\"\nExecStart=/bin/true\n"),
        text(
            "NetworkManager", "Office.nmconnection", holdsTokens: false,
            "[wifi-security]\nkey-mgmt=wpa-psk\npsk=VALUE\n"),
        text(
            "wpa_supplicant", "wpa_supplicant.conf", holdsTokens: false,
            "network={\n  ssid=\"Office\"\n  psk=\"VALUE\"\n}\n"),
        text("MySQL options", ".my.cnf", holdsTokens: false, "[client]\nuser=app\npassword=VALUE\n"),
        text("Java web", "web.config", "<add key=\"NAME\" value=\"VALUE\" />"),
        text(
            "SQL Server", "appsettings.json", holdsTokens: false,
            "{\"Default\": \"Server=db;Database=app;User Id=sa;Password=VALUE;Encrypt=true\"}"),
    ]

    private static let sources: [PairFormat] = [
        text("Swift", "Client.swift", "import Foundation\nlet NAME = \"VALUE\"\nfunc f() {}\n"),
        text("Swift with a type", "Client.swift", "struct A { static let NAME: String = \"VALUE\" }\n"),
        text("Objective-C", "Client.m", "static NSString *NAME = @\"VALUE\";\n"),
        text("Python", "settings.py", "DEBUG = True\nNAME = 'VALUE'\n"),
        text("Python dictionary", "client.py", "config = {'host': h, 'NAME': 'VALUE'}\n"),
        text("JavaScript", "index.js", "const c = { NAME: 'VALUE', port: 1 };\n"),
        text("TypeScript", "index.ts", "export const NAME: string = `VALUE`;\n"),
        text("Java", "Client.java", "  private static final String NAME = \"VALUE\";\n"),
        text("Kotlin", "Client.kt", "val NAME = \"VALUE\"\n"),
        text("Go", "main.go", "\tNAME := \"VALUE\"\n"),
        text("Ruby", "app.rb", "config = { :NAME => \"VALUE\" }\n"),
        text("PHP", "wp-config.php", "define('NAME', 'VALUE');\n"),
        text("C", "client.c", "#define NAME \"VALUE\"\n"),
        text("setter", "Client.java", "  properties.put(\"NAME\", \"VALUE\");\n"),
        text("shell script", "deploy.sh", "#!/bin/sh\nexport NAME=\"VALUE\"\n"),
        text("Markdown", "README.md", "# Use\n\n    NAME=VALUE ./start\n"),
    ]

    private static let histories: [PairFormat] = [
        text("bash history", ".bash_history", "ls -l\nexport NAME=VALUE\ncd /\n"),
        text("zsh history", ".zsh_history", ": 1690000000:0;NAME=VALUE make run\n"),
        text("fish history", "fish_history", "- cmd: set -x NAME 1; env NAME=VALUE run\n  when: 1690000000\n"),
        text("option", ".bash_history", holdsTokens: false, "tool login --user me --password VALUE --quiet\n"),
        text("option with a sign", ".bash_history", holdsTokens: false, "tool login --password=VALUE\n"),
        text("mysql -p", ".bash_history", holdsTokens: false, "mysql -u root -pVALUE app\n"),
        text("sshpass", ".bash_history", holdsTokens: false, "sshpass -p 'VALUE' ssh me@host\n"),
        text("curl -u", ".bash_history", holdsTokens: false, "curl -s -u me:VALUE https://api.internal/x\n"),
        text("psql history", ".psql_history", holdsTokens: false, "alter user app with password 'VALUE';\nselect 1;\n"),
        text("Python history", ".python_history", "NAME = 'VALUE'\n"),
        text("Node history", ".node_repl_history", "var NAME = 'VALUE'\n"),
        text("log", "app.log", "2024-01-01 10:00:00 INFO config NAME=VALUE loaded\n"),
        text("patch", "change.patch", "@@ -1 +1 @@\n-NAME = x\n+NAME = \"VALUE\"\n"),
        PairFormat("header", holdsTokens: false) { _, value, _ in
            let pair = Data("me:\(value)".utf8).base64EncodedString()
            return ("trace.log", Array("> GET / HTTP/1.1\r\n> Authorization: Basic \(pair)\r\n".utf8), [])
        },
    ]

    // MARK: Files of programs

    private static let files: [PairFormat] = [
        text(".netrc", ".netrc", holdsTokens: false, "machine api.internal\n  login me\n  password VALUE\n"),
        text(".git-credentials", ".git-credentials", holdsTokens: false, "https://me:VALUE@git.internal\n"),
        PairFormat("Docker", holdsTokens: false) { _, value, _ in
            let pair = Data("me:\(value)".utf8).base64EncodedString()
            return ("config.json", Array("{\"auths\": {\"registry.internal\": {\"auth\": \"\(pair)\"}}}".utf8), [])
        },
        text(".npmrc", ".npmrc", "//registry.internal/:_authToken=VALUE\n"),
        text(".pypirc", ".pypirc", holdsTokens: false, "[pypi]\nusername = me\npassword = VALUE\n"),
        text(
            "pip.conf", "pip.conf", holdsTokens: false, "[global]\nindex-url = https://me:VALUE@pypi.internal/simple\n"),
        PairFormat("cargo credentials", holdsTokens: false) { _, _, corpus in
            (
                "credentials.toml",
                Array("[registry]\ntoken = \"\(corpus.text(PlantedCorpus.alphanumeric, 32))\"\n".utf8), []
            )
        },
        PairFormat("AWS credentials", holdsTokens: false) { _, _, corpus in
            let key = corpus.text(PlantedCorpus.alphanumeric + "/+", 40)
            return ("credentials", Array("[default]\naws_secret_access_key = \(key)\n".utf8), [])
        },
        PairFormat("kubeconfig", holdsTokens: false) { _, _, corpus in
            (
                "kubeconfig.yaml",
                Array("users:\n- name: a\n  user:\n    token: \(corpus.text(PlantedCorpus.alphanumeric, 40))\n".utf8),
                []
            )
        },
        text(".pgpass", ".pgpass", holdsTokens: false, "db.internal:5432:app:me:VALUE\n"),
        text("chap-secrets", "chap-secrets", holdsTokens: false, "# client server secret\nme * VALUE *\n"),
        text("database URL", ".env", holdsTokens: false, "DATABASE=postgres://me:VALUE@db.internal:5432/app\n"),
        text("s3cfg", ".s3cfg", "[default]\nsecret_key = VALUE\n"),
        text("FileZilla", "sitemanager.xml", holdsTokens: false, "<Server><Host>h</Host><Pass>VALUE</Pass></Server>"),
        text("IBus dictionary", "user.dict", holdsTokens: false, "word 3\npassword=VALUE 1\n"),
    ]

    // MARK: Stores

    private static let stores: [PairFormat] = [
        PairFormat("binary property list") { name, value, _ in
            let list = try? PropertyListSerialization.data(
                fromPropertyList: ["a": 1, "settings": [name: value]], format: .binary, options: 0)
            return ("com.app.plist", Array(list ?? Data()), [])
        },
        PairFormat("keyed archive") { name, value, _ in
            let archive = try? NSKeyedArchiver.archivedData(
                withRootObject: [name: value] as NSDictionary, requiringSecureCoding: false)
            return ("model.archive", Array(archive ?? Data()), [])
        },
        PairFormat("SQLite column") { name, value, _ in
            (
                "app.sqlite",
                SQLiteMaker.database(
                    "CREATE TABLE account (id INTEGER, \"\(name)\" TEXT); INSERT INTO account VALUES (1, '\(value)')"),
                []
            )
        },
        PairFormat("SQLite settings") { name, value, _ in
            (
                "settings.db",
                SQLiteMaker.database(
                    "CREATE TABLE settings (key TEXT, value TEXT); INSERT INTO settings VALUES ('\(name)', '\(value)')"),
                []
            )
        },
        PairFormat("SQLite log") { name, value, _ in
            let (file, log) = SQLiteMaker.databaseWithLog(
                "CREATE TABLE settings (key TEXT, value TEXT)", "INSERT INTO settings VALUES ('\(name)', '\(value)')")
            return ("wal.db", file, log)
        },
        PairFormat("core dump") { name, value, corpus in
            let head: [UInt8] = [0x7F, 0x45, 0x4C, 0x46, 2, 1, 1, 0] + corpus.bytes(600)
            return ("core.1234", head + Array("\0HOME=/root\0\(name)=\(value)\0PWD=/\0".utf8) + corpus.bytes(300), [])
        },
        PairFormat("swap file") { name, value, corpus in
            (
                ".config.yml.swp",
                Array("b0VIM 9.0".utf8) + [UInt8](repeating: 0, count: 200) + Array("\(name): \(value)\0host: a\0".utf8)
                    + corpus.bytes(50), []
            )
        },
    ]

    private static let archives: [PairFormat] = [
        wrapped("zip", "backup.zip", environment) { ArchiveMaker.zip([($0.name, $0.bytes)]) },
        wrapped("ipa", "App.ipa", stores[0]) { ArchiveMaker.zip([("Payload/App.app/Settings.plist", $0.bytes)]) },
        wrapped("tar", "backup.tar", yaml) { ArchiveMaker.tar([("etc/\($0.name)", $0.bytes)]) },
        wrapped("compressed tar", "backup.tar.gz", ini) {
            ArchiveMaker.gzip(ArchiveMaker.tar([("etc/\($0.name)", $0.bytes)]))
        },
        wrapped("compressed log", "app.log.gz", histories[11]) { ArchiveMaker.gzip($0.bytes) },
    ]

    // MARK: Encodings

    private static let encodings: [PairFormat] = [
        wrapped("base64", "data.json", environment) {
            Array("{\"data\": \"\(Data($0.bytes).base64EncodedString())\"}".utf8)
        },
        wrapped("base64 in lines", "mail.txt", yaml) {
            Array(
                "Content: x\n\n\(Data($0.bytes + [UInt8](repeating: 0x20, count: 120)).base64EncodedString(options: .lineLength64Characters))\n"
                    .utf8)
        },
        wrapped("hexadecimal", "dump.txt", environment) { Array("blob \(Hexadecimal.text($0.bytes)) end\n".utf8) },
        wrapped("base64 of base64", "data.yaml", environment) {
            Array("data: \(Data(Data($0.bytes).base64EncodedData()).base64EncodedString())\n".utf8)
        },
        wrapped("percent-encoding", "access.log", environment) { file in
            let encoded = file.bytes.map { byte in
                PlantedCorpus.alphanumeric.utf8.contains(byte)
                    ? String(UnicodeScalar(byte)) : "%" + Hexadecimal.text(byte, isUppercase: true)
            }
            return Array("GET /save?body=\(encoded.joined()) HTTP/1.1\n".utf8)
        },
        wrapped("UTF-16", "settings.ini", ini) { [0xFF, 0xFE] + $0.bytes.flatMap { [$0, 0] } },
        wrapped("UTF-16 without a mark", "export.reg", ini) { $0.bytes.flatMap { [0, $0] } },
        wrapped("compressed base64", "state.json", environment) {
            Array("{\"data\": \"\(Data(ArchiveMaker.gzip($0.bytes)).base64EncodedString())\"}".utf8)
        },
    ]
}
