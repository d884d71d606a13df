// SPDX-License-Identifier: Apache-2.0

import Decompression
import Foundation
import LinuxSystem
@testable import SecretScan

/// How an issuer writes its tokens. The shapes are written down a second time here, so that an error in the scanner's
/// table does not hide itself.
struct TokenShape: Sendable {
    let kind: String
    let write: @Sendable (inout PlantedCorpus) -> String

    private init(_ kind: String, _ write: @escaping @Sendable (inout PlantedCorpus) -> String) {
        (self.kind, self.write) = (kind, write)
    }

    private static func simple(_ kind: String, _ prefix: String, _ alphabet: String, _ count: Int) -> TokenShape {
        TokenShape(kind) { prefix + $0.text(alphabet, count) }
    }

    private static let word = PlantedCorpus.alphanumeric
    private static let hexadecimal = PlantedCorpus.hexadecimal
    private static let upperDigits = PlantedCorpus.upper + PlantedCorpus.digits
    private static let lowerDigits = PlantedCorpus.lower + PlantedCorpus.digits

    static let all: [TokenShape] = [
        TokenShape("github-token") { corpus in
            let body = corpus.text(word, 30)
            return corpus.pick(["ghp_", "gho_", "ghu_", "ghs_"]) + body + checkSum(body)
        },
        TokenShape("github-token") { "github_pat_" + $0.text(word, 22) + "_" + $0.text(word, 59) },
        simple("gitlab-token", "glpat-", word, 20),
        TokenShape("npm-token") { corpus in
            let body = corpus.text(word, 30)
            return "npm_" + body + checkSum(body)
        },
        TokenShape("pypi-token") { "pypi-AgEIcHlwaS5vcmc" + $0.text(word + "-_", 120) },
        simple("rubygems-key", "rubygems_", hexadecimal, 48),
        simple("docker-token", "dckr_pat_", word, 27),
        simple("artifactory-key", "AKCp", word, 69),
        TokenShape("circleci-token") { "CCIPAT_" + $0.text(word, 22) + "_" + $0.text(hexadecimal, 40) },
        TokenShape("aws-key-id") { $0.pick(["AKIA", "ASIA"]) + $0.text(PlantedCorpus.upper + "234567", 16) },
        simple("google-key", "AIza", word + "-_", 35),
        simple("google-secret", "GOCSPX-", word + "-_", 28),
        TokenShape("azure-storage-key") { "AccountKey=" + Data($0.bytes(64)).base64EncodedString() },
        simple("digitalocean-token", "dop_v1_", hexadecimal, 64),
        simple("vault-token", "hvs.", word, 90),
        TokenShape("terraform-token") { $0.text(word, 14) + ".atlasv1." + $0.text(word, 67) },
        simple("pulumi-token", "pul-", hexadecimal, 40),
        simple("databricks-token", "dapi", hexadecimal, 32),
        simple("supabase-token", "sbp_", hexadecimal, 40),
        simple("doppler-token", "dp.pt.", word, 43),
        TokenShape("tailscale-key") { "tskey-auth-" + $0.text(word, 12) + "-" + $0.text(word, 32) },
        simple("openai-key", "sk-proj-", word + "-_", 120),
        simple("anthropic-key", "sk-ant-api03-", word + "-_", 95),
        simple("huggingface-token", "hf_", word, 34),
        simple("grafana-token", "glc_eyJ", word, 100),
        simple("newrelic-key", "NRAK-", upperDigits, 27),
        TokenShape("dynatrace-token") { "dt0c01." + $0.text(upperDigits, 24) + "." + $0.text(upperDigits, 64) },
        TokenShape("postman-key") { "PMAK-" + $0.text(hexadecimal, 24) + "-" + $0.text(hexadecimal, 34) },
        TokenShape("stripe-key") { $0.pick(["sk_live_", "rk_live_", "sk_test_"]) + $0.text(word, 24) },
        simple("square-token", "sq0atp-", word, 22),
        simple("shopify-token", "shpat_", hexadecimal, 32),
        simple("shippo-token", "shippo_live_", hexadecimal, 40),
        simple("easypost-key", "EZAK", word, 54),
        TokenShape("slack-token") {
            "xoxb-" + $0.text(PlantedCorpus.digits, 12) + "-" + $0.text(PlantedCorpus.digits, 12) + "-"
                + $0.text(word, 24)
        },
        TokenShape("slack-webhook") {
            "https://hooks.slack.com/services/T" + $0.text(upperDigits, 8) + "/B" + $0.text(upperDigits, 8) + "/"
                + $0.text(word, 24)
        },
        TokenShape("discord-webhook") {
            "https://discord.com/api/webhooks/" + $0.text(PlantedCorpus.digits, 18) + "/" + $0.text(word, 68)
        },
        TokenShape("sendgrid-key") { "SG." + $0.text(word, 22) + "." + $0.text(word, 43) },
        simple("brevo-key", "xkeysib-", hexadecimal, 64).followed(by: "-", word, 16),
        simple("mailgun-key", "key-", hexadecimal, 32),
        simple("atlassian-token", "ATATT3xFfGF0", word, 180),
        simple("linear-key", "lin_api_", word, 40),
        simple("notion-token", "ntn_", word, 46),
        simple("figma-token", "figd_", word, 40),
        TokenShape("age-key") { corpus in
            var values = corpus.bytes(52).map { $0 & 31 }
            values[51] &= 0x10
            let text = "age-secret-key-"
            let expanded = text.utf8.map { $0 >> 5 } + [0] + text.utf8.map { $0 & 31 } + values + [0, 0, 0, 0, 0, 0]
            let sum = TokenCheck.bech32Remainder(expanded) ^ 1
            values += (0..<6).map { UInt8(sum >> UInt32(5 * (5 - $0)) & 31) }
            return "AGE-SECRET-KEY-1"
                + String(decoding: values.map { TokenCheck.bech32Alphabet[Int($0)] }, as: UTF8.self).uppercased()
        },
        TokenShape("json-web-token") { corpus in
            let header = base64URL(Array(#"{"alg":"HS256","typ":"JWT"}"#.utf8))
            let payload = base64URL(
                Array(
                    #"{"sub":"\#(corpus.text(PlantedCorpus.digits, 7))","name":"\#(corpus.text(PlantedCorpus.lower, 8))"}"#
                        .utf8))
            return "\(header).\(payload).\(base64URL(corpus.bytes(32)))"
        },
    ]

    private func followed(by separator: String, _ alphabet: String, _ count: Int) -> TokenShape {
        let write = write
        return TokenShape(kind) { write(&$0) + separator + $0.text(alphabet, count) }
    }

    private static func checkSum(_ body: String) -> String {
        String(decoding: TokenCheck.base62(CRC32.value(of: Array(body.utf8))), as: UTF8.self)
    }

    private static func base64URL(_ bytes: [UInt8]) -> String { Base64.text(bytes, .url) }
}
