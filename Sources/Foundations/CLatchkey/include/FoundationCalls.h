// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <stddef.h>

/// A call of Foundation that LatchkeyRedirections redirects.
typedef struct {
    /// The name in Swift.
    const char *name;
    /// The mangled name of its function.
    const char *symbol;
    /// What the call does with the redirection: the end of a sentence that begins with the name.
    const char *effect;
} LatchkeyFoundationCall;

/// Returns the call at `index`, in the order of the list below; NULL after the last one.
const LatchkeyFoundationCall *latchkey_foundation_call(size_t index);

// What a call does only in a program with LatchkeyRedirections.
#define LATCHKEY_EFFECT_PROTECTS " protects files only in a program with LatchkeyRedirections"
#define LATCHKEY_EFFECT_READS " reads protected files only in a program with LatchkeyRedirections"
#define LATCHKEY_EFFECT_CONNECTS " obeys App Transport Security and stored pins only in a program with LatchkeyRedirections"
// A session with a configuration of LatchkeyURLSession obeys without the redirections.
#define LATCHKEY_EFFECT_FOLLOWS                                                                                        \
    " with Foundation's configuration obeys App Transport Security and stored pins only in a program with "            \
    "LatchkeyRedirections"
#define LATCHKEY_EFFECT_FINDS_CREDENTIALS " finds credentials only in a program with LatchkeyRedirections"
#define LATCHKEY_EFFECT_WARNS_OF_SECRETS " warns of secrets only in a program with LatchkeyRedirections"

/// The calls: CALL(their effect, the name, the symbol). `Scripts/build/redirections check` compares them with the
/// toolchain.
#define LATCHKEY_FOUNDATION_CALLS(CALL) \
    CALL(PROTECTS, "Data.write(to:options:)", "$s20FoundationEssentials4DataV5write2to7optionsyAA3URLV_AC14WritingOptionsVtKF") \
    CALL(READS, "Data.init(contentsOf:options:)", "$s20FoundationEssentials4DataV10contentsOf7optionsAcA3URLVh_AC14ReadingOptionsVtKcfC") \
    CALL(PROTECTS, "StringProtocol.write(to:atomically:encoding:)", "$sSy20FoundationEssentialsE5write2to10atomically8encodingyAA3URLV_SbSSAAE8EncodingVtKF") \
    CALL(PROTECTS, "StringProtocol.write(toFile:atomically:encoding:)", "$sSy20FoundationEssentialsE5write6toFile10atomically8encodingyqd___SbSSAAE8EncodingVtKSyRd__lF") \
    CALL(READS, "String.init(contentsOf:encoding:)", "$sSS20FoundationEssentialsE10contentsOf8encodingSSAA3URLVh_SSAAE8EncodingVtKcfC") \
    CALL(READS, "String.init(contentsOf:usedEncoding:)", "$sSS20FoundationEssentialsE10contentsOf12usedEncodingSSAA3URLVh_SSAAE0F0VztKcfC") \
    CALL(READS, "String.init(contentsOfFile:encoding:)", "$sSS20FoundationEssentialsE14contentsOfFile8encodingS2Sh_SSAAE8EncodingVtKcfC") \
    CALL(READS, "String.init(contentsOfFile:usedEncoding:)", "$sSS20FoundationEssentialsE14contentsOfFile12usedEncodingS2Sh_SSAAE0G0VztKcfC") \
    CALL(READS, "String.init(contentsOf:)", "$sSS10FoundationE10contentsOfSS0A10Essentials3URLVh_tKcfC") \
    CALL(READS, "String.init(contentsOfFile:)", "$sSS10FoundationE14contentsOfFileS2Sh_tKcfC") \
    CALL(READS, "FileHandle.init(forReadingFrom:)", "$s10Foundation10FileHandleC14forReadingFromAC0A10Essentials3URLV_tKcfC") \
    CALL(READS, "FileHandle.init(forWritingTo:)", "$s10Foundation10FileHandleC12forWritingToAC0A10Essentials3URLV_tKcfC") \
    CALL(READS, "FileHandle.init(forUpdating:)", "$s10Foundation10FileHandleC11forUpdatingAC0A10Essentials3URLV_tKcfC") \
    CALL(READS, "FileHandle.init(forReadingAtPath:)", "$s10Foundation10FileHandleC16forReadingAtPathACSgSS_tcfC") \
    CALL(READS, "FileHandle.init(forWritingAtPath:)", "$s10Foundation10FileHandleC16forWritingAtPathACSgSS_tcfC") \
    CALL(READS, "FileHandle.init(forUpdatingAtPath:)", "$s10Foundation10FileHandleC17forUpdatingAtPathACSgSS_tcfC") \
    CALL(CONNECTS, "URLSessionConfiguration.default", "$s20FoundationNetworking23URLSessionConfigurationC7defaultACvgZ") \
    CALL(CONNECTS, "URLSessionConfiguration.ephemeral", "$s20FoundationNetworking23URLSessionConfigurationC9ephemeralACvgZ") \
    CALL(CONNECTS, "URLSession.shared", "$s20FoundationNetworking10URLSessionC6sharedACvgZ") \
    CALL(FOLLOWS, "URLSession.init(configuration:)", "$s20FoundationNetworking10URLSessionC13configurationAcA0C13ConfigurationC_tcfC") \
    CALL(FOLLOWS, "URLSession.init(configuration:)", "$s20FoundationNetworking10URLSessionC13configurationAcA0C13ConfigurationC_tcfc") \
    CALL(FOLLOWS, "URLSession.init(configuration:delegate:delegateQueue:)", "$s20FoundationNetworking10URLSessionC13configuration8delegate0E5QueueAcA0C13ConfigurationC_AA0C8Delegate_pSg0A009OperationF0CSgtcfC") \
    CALL(FOLLOWS, "URLSession.init(configuration:delegate:delegateQueue:)", "$s20FoundationNetworking10URLSessionC13configuration8delegate0E5QueueAcA0C13ConfigurationC_AA0C8Delegate_pSg0A009OperationF0CSgtcfc") \
    CALL(FINDS_CREDENTIALS, "URLCredentialStorage.shared", "$s20FoundationNetworking20URLCredentialStorageC6sharedACvgZ") \
    CALL(PROTECTS, "FileManager.default", "$s20FoundationEssentials11FileManagerC7defaultACvgZ") \
    CALL(WARNS_OF_SECRETS, "UserDefaults.standard", "$s10Foundation12UserDefaultsC8standardACvgZ")
