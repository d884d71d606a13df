// SPDX-License-Identifier: Apache-2.0

/// The patterns of each rule.
extension TextPattern {
    private static let android: Set<CodeLanguage> = [.kotlin, .java]
    private static let code: Set<CodeLanguage> = [.objectiveC, .kotlin, .java, .javaScript, .python, .go]

    static let all: [TextPattern] = storage + connections + cryptography + screens

    private static let storage: [TextPattern] = [
        TextPattern(
            rule: .preferences, languages: [.objectiveC], line: [["forKey:", "Defaults"], ["forKey:", "defaults"]],
            condition: .secretLiteral),
        TextPattern(
            rule: .preferences, languages: android, line: [["putString("], ["putStringSet("]], condition: .secretLiteral
        ),
        TextPattern(
            rule: .preferences, languages: [.javaScript],
            line: [["localStorage.setItem("], ["sessionStorage.setItem("], ["AsyncStorage.setItem("]],
            condition: .secretLiteral),
        TextPattern(rule: .alwaysAccessible, languages: [.objectiveC], line: [["kSecAttrAccessibleAlways"]]),
        TextPattern(
            rule: .ignoredStatus, languages: [.objectiveC],
            line: [
                ["SecItemAdd("], ["SecItemUpdate("], ["SecItemDelete("], ["SecItemCopyMatching("], ["(void)SecItem"],
            ], condition: .startsLine),
        TextPattern(rule: .literalKey, languages: code, line: [["{"], ["["], ["("]], condition: .spelledText),
        TextPattern(rule: .literalKey, languages: android, line: [["SecretKeySpec(\""]]),
    ]

    private static let connections: [TextPattern] = [
        TextPattern(
            rule: .anyServer, languages: [.objectiveC], line: [["NSURLSessionAuthChallengeUseCredential"]],
            file: ["serverTrust"],
            unlessFile: ["SecTrustEvaluate", "SecTrustGetCertificateAtIndex", "SecTrustCopyCertificateChain"]),
        TextPattern(
            rule: .anyServer, languages: android,
            line: [
                ["ALLOW_ALL_HOSTNAME_VERIFIER"], ["AllowAllHostnameVerifier"], ["checkServerTrusted(", "{}"],
                ["checkServerTrusted(", "{ }"],
            ]),
        TextPattern(rule: .anyServer, languages: [.kotlin], line: [["hostnameVerifier", "true"]]),
        TextPattern(
            rule: .anyServer, languages: [.java],
            line: [["setHostnameVerifier(", "true"], ["HostnameVerifier", "-> true"]]),
        TextPattern(
            rule: .anyServer, languages: [.javaScript],
            line: [["rejectUnauthorized: false"], ["rejectUnauthorized:false"], ["NODE_TLS_REJECT_UNAUTHORIZED", "0"]]),
        TextPattern(
            rule: .anyServer, languages: [.python],
            line: [
                ["verify=False"], ["_create_unverified_context"], ["verify_mode = ssl.CERT_NONE"],
                ["check_hostname = False"],
            ]),
        TextPattern(
            rule: .anyServer, languages: [.go], line: [["InsecureSkipVerify: true"], ["InsecureSkipVerify = true"]]),
        TextPattern(
            rule: .policyWithoutName, languages: [.objectiveC], line: [["SecPolicyCreateBasicX509"]],
            file: ["serverTrust"]),
        TextPattern(
            rule: .comparedPins, languages: [.objectiveC], line: [["NSURLSessionAuthChallengeUseCredential"]],
            file: ["SecCertificateCopyData", "serverTrust"], unlessFile: ["SecTrustEvaluate"]),
        TextPattern(
            rule: .arbitraryLoads, languages: [.xml], line: [["<true/>"]],
            condition: .follows("NSAllowsArbitraryLoads</key>")),
        TextPattern(rule: .arbitraryLoads, languages: [.xml], line: [["NSAllowsArbitraryLoads</key>", "<true/>"]]),
        TextPattern(rule: .arbitraryLoads, languages: [.xml], line: [["android:usesCleartextTraffic=\"true\""]]),
    ]

    private static let cryptography: [TextPattern] = [
        TextPattern(
            rule: .weakPasswordHash, languages: [.objectiveC], line: [["CC_MD5("], ["CC_SHA1("]],
            condition: .passwordName),
        TextPattern(
            rule: .weakPasswordHash, languages: android,
            line: [["\"MD5\""], ["\"SHA-1\""], ["\"SHA1\""], ["md5("], ["sha1("]], condition: .passwordName),
        TextPattern(
            rule: .weakPasswordHash, languages: [.javaScript],
            line: [
                ["createHash('md5')"], ["createHash(\"md5\")"], ["createHash('sha1')"], ["createHash(\"sha1\")"],
                ["md5("], ["sha1("],
            ], condition: .passwordName),
        TextPattern(
            rule: .weakPasswordHash, languages: [.python], line: [["hashlib.md5("], ["hashlib.sha1("]],
            condition: .passwordName),
        TextPattern(
            rule: .weakPasswordHash, languages: [.go],
            line: [["md5.Sum("], ["sha1.Sum("], ["md5.New("], ["sha1.New("]], condition: .passwordName),
        TextPattern(rule: .weakMode, languages: [.objectiveC], line: [["kCCOptionECBMode"]]),
        TextPattern(
            rule: .weakMode, languages: android,
            line: [
                ["Cipher.getInstance(\"AES\")"], ["Cipher.getInstance(", "/ECB/", "AES"], ["Cipher.getInstance(\"DES"],
            ]),
        TextPattern(rule: .weakMode, languages: [.javaScript], line: [["createCipheriv(", "-ecb"], ["mode.ECB"]]),
        TextPattern(rule: .weakMode, languages: [.python], line: [["modes.ECB("], ["AES.MODE_ECB"]]),
        TextPattern(rule: .weakMode, languages: [.go], line: [["NewECBEncrypter("]]),
        TextPattern(rule: .weakMode, languages: code, line: [["="]], condition: .constantVector),
        TextPattern(
            rule: .oldPadding, languages: [.objectiveC],
            line: [["kSecKeyAlgorithmRSAEncryptionPKCS1"], ["SecKeyEncrypt(", "kSecPaddingPKCS1"]]),
        TextPattern(
            rule: .oldPadding, languages: android, line: [["RSA/ECB/PKCS1Padding"], ["RSA/None/PKCS1Padding"]]),
        TextPattern(rule: .oldPadding, languages: [.javaScript], line: [["RSA_PKCS1_PADDING"]]),
        TextPattern(rule: .oldPadding, languages: [.python], line: [["PKCS1_v1_5.new("], ["encrypt(", "PKCS1v15()"]]),
        TextPattern(rule: .oldPadding, languages: [.go], line: [["EncryptPKCS1v15("], ["DecryptPKCS1v15("]]),
    ]

    private static let screens: [TextPattern] = [
        TextPattern(
            rule: .visibleField, languages: [.objectiveC], line: [["UITextField *"]], condition: .passwordName,
            unlessFile: ["secureTextEntry = YES", "setSecureTextEntry:YES"]),
        TextPattern(
            rule: .noCover, languages: [.objectiveC],
            line: [["<UIApplicationDelegate>"], ["<UIWindowSceneDelegate>"], ["UIResponder <UIApplicationDelegate"]],
            unlessFile: ["WillResignActive", "DidEnterBackground"]),
        TextPattern(
            rule: .jailbreakFiles, languages: [.objectiveC],
            line: [["fileExistsAtPath:"], ["canOpenURL:"], ["fopen("], ["stat("]], condition: .jailbreakFile),
        TextPattern(
            rule: .jailbreakFiles, languages: android, line: [["File("], ["exists()"], ["\"/"], ["getPackageInfo("]],
            condition: .jailbreakFile),
        TextPattern(
            rule: .visibleField, languages: [.xml], line: [["android:id=\"@+id/", "assword"]],
            unlessFile: ["textPassword", "textWebPassword", "numberPassword"]),
        TextPattern(
            rule: .noCover, languages: android, line: [["class ", "Activity", "ogin"]],
            unlessFile: ["FLAG_SECURE", "setRecentsScreenshotEnabled(false)"]),
    ]
}
