// SPDX-License-Identifier: Apache-2.0

/// The known forms, from the issuers' documentation.
extension TokenForm {
    private static let upperDigits = ByteClass.uppercase.union("0123456789")
    private static let lowerDigits = ByteClass.lowercase.union("0123456789")
    private static let token = ByteClass.wordOrHyphen

    static let all: [TokenForm] = sources + clouds + services + money + messages + work + keys + short

    /// Where code and packages are.
    private static let sources: [TokenForm] = {
        let gitHub = SecretKind("github-token", "GitHub token")
        let gitLab = SecretKind("gitlab-token", "GitLab token")
        let npm = SecretKind("npm-token", "npm access token")
        let docker = SecretKind("docker-token", "Docker access token")
        return [
            TokenForm(gitHub, "ghp_", .run(.alphanumeric, 36), check: .crc32Base62),
            TokenForm(gitHub, "gho_", .run(.alphanumeric, 36), check: .crc32Base62),
            TokenForm(gitHub, "ghu_", .run(.alphanumeric, 36), check: .crc32Base62),
            TokenForm(gitHub, "ghs_", .run(.alphanumeric, 36), check: .crc32Base62),
            TokenForm(gitHub, "ghr_", .run(.alphanumeric, 36...76)),
            TokenForm(gitHub, "github_pat_", .run(.alphanumeric, 22), .text("_"), .run(.alphanumeric, 59)),
            TokenForm(gitLab, "glpat-", .run(token.union("."), 20...64)),
            TokenForm(gitLab, "gldt-", .run(token, 20...64)),
            TokenForm(gitLab, "glrt-", .run(token, 20...64)),
            TokenForm(gitLab, "glcbt-", .run(token, 20...64)),
            TokenForm(gitLab, "glptt-", .run(.lowercaseHexadecimal, 40)),
            TokenForm(npm, "npm_", .run(.alphanumeric, 36), check: .crc32Base62),
            TokenForm(SecretKind("pypi-token", "PyPI token"), "pypi-AgE", .run(token, 50...400)),
            TokenForm(SecretKind("rubygems-key", "RubyGems key"), "rubygems_", .run(.lowercaseHexadecimal, 48)),
            TokenForm(SecretKind("crates-token", "crates.io token"), "\"cio", .run(.alphanumeric, 32)),
            TokenForm(docker, "dckr_pat_", .run(token, 27)),
            TokenForm(docker, "dckr_oat_", .run(token, 32)),
            TokenForm(SecretKind("artifactory-key", "Artifactory key"), "AKCp", .run(.alphanumeric, 69)),
            TokenForm(SecretKind("buildkite-token", "Buildkite token"), "bkua_", .run(.lowercaseHexadecimal, 40)),
            TokenForm(
                SecretKind("circleci-token", "CircleCI token"), "CCIPAT_", .run(.alphanumeric, 22), .text("_"),
                .run(.lowercaseHexadecimal, 40)),
            TokenForm(
                SecretKind("sourcegraph-token", "Sourcegraph token"), "sgp_",
                .run(.lowercaseHexadecimal.union("_"), 40...64)),
            TokenForm(SecretKind("sonar-token", "SonarQube token"), "squ_", .run(.lowercaseHexadecimal, 40)),
        ]
    }()

    /// Where programs run.
    private static let clouds: [TokenForm] = {
        let amazon = SecretKind("aws-key-id", "AWS access key")
        let ocean = SecretKind("digitalocean-token", "DigitalOcean token")
        let vault = SecretKind("vault-token", "HashiCorp Vault token")
        let google = SecretKind("google-secret", "Google client secret or access token")
        return [
            TokenForm(amazon, "AKIA", .run(.base32, 16)),
            TokenForm(amazon, "ASIA", .run(.base32, 16)),
            TokenForm(amazon, "ABIA", .run(.base32, 16)),
            TokenForm(amazon, "ACCA", .run(.base32, 16)),
            TokenForm(SecretKind("google-key", "Google API key"), "AIza", .run(token, 35)),
            TokenForm(google, "GOCSPX-", .run(token, 28)),
            TokenForm(google, "ya29.", .run(token, 40...1024)),
            TokenForm(
                SecretKind("azure-storage-key", "Azure storage key"), "AccountKey=",
                .run(.alphanumeric.union("+/"), 86), .text("==")),
            TokenForm(ocean, "dop_v1_", .run(.lowercaseHexadecimal, 64)),
            TokenForm(ocean, "doo_v1_", .run(.lowercaseHexadecimal, 64)),
            TokenForm(ocean, "dor_v1_", .run(.lowercaseHexadecimal, 64)),
            TokenForm(vault, "hvs.", .run(token, 24...300)),
            TokenForm(vault, "hvb.", .run(token, 138...300)),
            TokenForm(
                SecretKind("terraform-token", "Terraform Cloud token"), ".atlasv1.", .run(token, 60...70)),
            TokenForm(SecretKind("pulumi-token", "Pulumi token"), "pul-", .run(.lowercaseHexadecimal, 40)),
            TokenForm(SecretKind("databricks-token", "Databricks token"), "dapi", .run(.lowercaseHexadecimal, 32)),
            TokenForm(SecretKind("planetscale-token", "PlanetScale token"), "pscale_tkn_", .run(token, 32...64)),
            TokenForm(SecretKind("planetscale-token", "PlanetScale token"), "pscale_pw_", .run(token, 32...64)),
            TokenForm(SecretKind("supabase-token", "Supabase token"), "sbp_", .run(.lowercaseHexadecimal, 40)),
            TokenForm(SecretKind("heroku-key", "Heroku key"), "HRKU-", .run(token, 36...64)),
            TokenForm(SecretKind("fly-token", "Fly.io token"), "fo1_", .run(token, 43)),
            TokenForm(SecretKind("fly-token", "Fly.io token"), "fm2_", .run(.base64, 100...1500)),
            TokenForm(SecretKind("doppler-token", "Doppler token"), "dp.pt.", .run(.alphanumeric, 40...44)),
            TokenForm(SecretKind("doppler-token", "Doppler token"), "dp.st.", .run(token.union("."), 40...80)),
            TokenForm(
                SecretKind("tailscale-key", "Tailscale key"), "tskey-", .run(.lowercase, 3...8), .text("-"),
                .run(token, 20...64)),
            TokenForm(SecretKind("prefect-key", "Prefect key"), "pnu_", .run(lowerDigits, 36)),
            TokenForm(SecretKind("alibaba-key", "Alibaba Cloud key"), "LTAI", .run(.alphanumeric, 17...21)),
        ]
    }()

    private static let services: [TokenForm] = {
        let grafana = SecretKind("grafana-token", "Grafana token")
        let openAI = SecretKind("openai-key", "OpenAI key")
        let mapbox = SecretKind("mapbox-token", "Mapbox token")
        return [
            TokenForm(openAI, "sk-proj-", .run(token, 40...200)),
            TokenForm(openAI, "sk-svcacct-", .run(token, 40...200)),
            TokenForm(openAI, "sk-admin-", .run(token, 40...200)),
            TokenForm(SecretKind("anthropic-key", "Anthropic key"), "sk-ant-", .run(token, 80...120)),
            TokenForm(SecretKind("huggingface-token", "Hugging Face token"), "api_org_", .run(.letters, 34)),
            TokenForm(SecretKind("groq-key", "Groq key"), "gsk_", .run(.alphanumeric, 52)),
            TokenForm(SecretKind("perplexity-key", "Perplexity key"), "pplx-", .run(.alphanumeric, 48)),
            TokenForm(
                grafana, "glsa_", .run(.alphanumeric, 32), .text("_"), .run(.lowercaseHexadecimal, 8),
                check: .crc32Hexadecimal),
            TokenForm(grafana, "glc_eyJ", .run(.base64.union("="), 60...400)),
            TokenForm(mapbox, "sk.eyJ", .run(token, 40...300), .text("."), .run(token, 20...40)),
            TokenForm(SecretKind("newrelic-key", "New Relic key"), "NRAK-", .run(upperDigits, 27)),
            TokenForm(
                SecretKind("dynatrace-token", "Dynatrace token"), "dt0c01.", .run(upperDigits, 24), .text("."),
                .run(upperDigits, 64)),
            TokenForm(SecretKind("sentry-token", "Sentry token"), "sntrys_", .run(.base64.union("="), 80...400)),
            TokenForm(SecretKind("sentry-token", "Sentry token"), "sntryu_", .run(.lowercaseHexadecimal, 64)),
            TokenForm(
                SecretKind("postman-key", "Postman key"), "PMAK-", .run(.lowercaseHexadecimal, 24), .text("-"),
                .run(.lowercaseHexadecimal, 34)),
            TokenForm(SecretKind("contentful-token", "Contentful token"), "CFPAT-", .run(token, 43)),
            TokenForm(SecretKind("readme-key", "ReadMe key"), "rdme_", .run(lowerDigits, 70)),
            TokenForm(
                SecretKind("launchdarkly-key", "LaunchDarkly key"), "sdk-", .run(.lowercaseHexadecimal, 8), .text("-"),
                .run(.lowercaseHexadecimal.union("-"), 27)),
            TokenForm(SecretKind("clojars-token", "Clojars token"), "CLOJARS_", .run(.lowercaseHexadecimal, 60)),
        ]
    }()

    private static let money: [TokenForm] = {
        let stripe = SecretKind("stripe-key", "Stripe key")
        let square = SecretKind("square-token", "Square token")
        let shopify = SecretKind("shopify-token", "Shopify token")
        let shippo = SecretKind("shippo-token", "Shippo token")
        return [
            TokenForm(stripe, "sk_live_", .run(.alphanumeric, 24...247)),
            TokenForm(stripe, "rk_live_", .run(.alphanumeric, 24...247)),
            TokenForm(stripe, "sk_test_", .run(.alphanumeric, 24...247)),
            TokenForm(stripe, "rk_test_", .run(.alphanumeric, 24...247)),
            TokenForm(stripe, "whsec_", .run(.alphanumeric.union("+/="), 32...64)),
            TokenForm(square, "sq0atp-", .run(token, 22)),
            TokenForm(square, "sq0csp-", .run(token, 43)),
            TokenForm(square, "EAAA", .run(token, 60)),
            TokenForm(shopify, "shpat_", .run(.hexadecimal, 32)),
            TokenForm(shopify, "shpca_", .run(.hexadecimal, 32)),
            TokenForm(shopify, "shppa_", .run(.hexadecimal, 32)),
            TokenForm(shopify, "shpss_", .run(.hexadecimal, 32)),
            TokenForm(shippo, "shippo_live_", .run(.lowercaseHexadecimal, 40)),
            TokenForm(shippo, "shippo_test_", .run(.lowercaseHexadecimal, 40)),
            TokenForm(SecretKind("easypost-key", "EasyPost key"), "EZAK", .run(.alphanumeric, 54)),
            TokenForm(SecretKind("easypost-key", "EasyPost key"), "EZTK", .run(.alphanumeric, 54)),
            TokenForm(SecretKind("flutterwave-key", "Flutterwave key"), "FLWSECK-", .run(lowerDigits, 32), .text("-X")),
            TokenForm(SecretKind("duffel-token", "Duffel token"), "duffel_live_", .run(token, 43)),
            TokenForm(
                SecretKind("plaid-token", "Plaid token"), "access-production-", .run(.lowercaseHexadecimal, 8),
                .text("-"), .run(.lowercaseHexadecimal.union("-"), 27)),
        ]
    }()

    private static let messages: [TokenForm] = {
        let slack = SecretKind("slack-token", "Slack token")
        return [
            TokenForm(slack, "xoxb-", .run(token, 40...120)),
            TokenForm(slack, "xoxp-", .run(token, 40...120)),
            TokenForm(slack, "xoxa-", .run(token, 40...120)),
            TokenForm(slack, "xoxr-", .run(token, 40...120)),
            TokenForm(slack, "xoxs-", .run(token, 40...120)),
            TokenForm(slack, "xoxe.", .run(token.union("."), 40...300)),
            TokenForm(slack, "xapp-", .run(.digits, 1), .text("-"), .run(token, 40...120)),
            TokenForm(
                SecretKind("slack-webhook", "Slack webhook"), "hooks.slack.com/services/", .run(.alphanumeric, 9...12),
                .text("/"), .run(.alphanumeric, 9...12), .text("/"), .run(.alphanumeric, 22...26)),
            TokenForm(
                SecretKind("teams-webhook", "Microsoft Teams webhook"), "webhook.office.com/webhookb2/",
                .run(.lowercaseHexadecimal.union("-@"), 73), .text("/IncomingWebhook/"),
                .run(.lowercaseHexadecimal, 32),
                .text("/"), .run(.lowercaseHexadecimal.union("-"), 36)),
            TokenForm(
                SecretKind("discord-webhook", "Discord webhook"), "discord.com/api/webhooks/", .run(.digits, 17...20),
                .text("/"), .run(token, 60...72)),
            TokenForm(
                SecretKind("brevo-key", "Brevo key"), "xkeysib-", .run(.lowercaseHexadecimal, 64), .text("-"),
                .run(.alphanumeric, 16)),
            TokenForm(SecretKind("mailgun-key", "Mailgun key"), "key-", .run(.lowercaseHexadecimal, 32)),
        ]
    }()

    private static let work: [TokenForm] = {
        let atlassian = SecretKind("atlassian-token", "Atlassian token")
        let notion = SecretKind("notion-token", "Notion token")
        return [
            TokenForm(atlassian, "ATATT3", .run(token.union("="), 100...250)),
            TokenForm(atlassian, "ATCTT3", .run(token.union("="), 100...250)),
            TokenForm(SecretKind("linear-key", "Linear key"), "lin_api_", .run(.alphanumeric, 40)),
            TokenForm(SecretKind("linear-key", "Linear key"), "lin_oauth_", .run(.alphanumeric, 40...80)),
            TokenForm(notion, "ntn_", .run(.alphanumeric, 46)),
            TokenForm(notion, "secret_", .run(.alphanumeric, 43)),
            TokenForm(SecretKind("figma-token", "Figma token"), "figd_", .run(token, 40...44)),
            TokenForm(SecretKind("frameio-token", "Frame.io token"), "fio-u-", .run(token, 64)),
            TokenForm(SecretKind("typeform-token", "Typeform token"), "tfp_", .run(token, 40...64)),
            TokenForm(SecretKind("dropbox-token", "Dropbox token"), "sl.B", .run(token, 130...160)),
            TokenForm(SecretKind("dropbox-token", "Dropbox token"), "sl.u.", .run(token, 130...1400)),
            TokenForm(SecretKind("adobe-secret", "Adobe client secret"), "p8e-", .run(token, 32)),
            TokenForm(
                SecretKind("hubspot-key", "HubSpot token"), "pat-na1-", .run(.lowercaseHexadecimal.union("-"), 36)),
            TokenForm(
                SecretKind("hubspot-key", "HubSpot token"), "pat-eu1-", .run(.lowercaseHexadecimal.union("-"), 36)),
            TokenForm(
                SecretKind("intra42-secret", "42 client secret"), "s-s4t2", .run(lowerDigits.union("-"), 60...72)),
        ]
    }()

    /// Prefixes that are too short for the search alone.
    static let short: [TokenForm] =
        led(SecretKind("sendgrid-key", "SendGrid key"), "SG.", .run(token, 22), .text("."), .run(token, 43))
        + led(SecretKind("huggingface-token", "Hugging Face token"), "hf_", .run(.alphanumeric, 34))
        + led(SecretKind("replicate-token", "Replicate token"), "r8_", .run(.alphanumeric, 37))

    /// Keys that are one word.
    private static let keys: [TokenForm] = [
        TokenForm(
            SecretKind("age-key", "age private key"), "AGE-SECRET-KEY-1", .run(upperDigits, 58), check: .bech32)
    ]
}
