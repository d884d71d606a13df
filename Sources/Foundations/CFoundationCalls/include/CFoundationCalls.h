// SPDX-License-Identifier: Apache-2.0

#pragma once

/// The calls of Foundation that LatchkeyRedirections redirects: CALL(their effect there, the name, the symbol).
/// `Scripts/build/redirections check` compares them with the toolchain.
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
    CALL(CONNECTS, "URLSession.init(configuration:)", "$s20FoundationNetworking10URLSessionC13configurationAcA0C13ConfigurationC_tcfC") \
    CALL(CONNECTS, "URLSession.init(configuration:)", "$s20FoundationNetworking10URLSessionC13configurationAcA0C13ConfigurationC_tcfc") \
    CALL(CONNECTS, "URLSession.init(configuration:delegate:delegateQueue:)", "$s20FoundationNetworking10URLSessionC13configuration8delegate0E5QueueAcA0C13ConfigurationC_AA0C8Delegate_pSg0A009OperationF0CSgtcfC") \
    CALL(CONNECTS, "URLSession.init(configuration:delegate:delegateQueue:)", "$s20FoundationNetworking10URLSessionC13configuration8delegate0E5QueueAcA0C13ConfigurationC_AA0C8Delegate_pSg0A009OperationF0CSgtcfc") \
    CALL(FINDS_CREDENTIALS, "URLCredentialStorage.shared", "$s20FoundationNetworking20URLCredentialStorageC6sharedACvgZ") \
    CALL(PROTECTS, "FileManager.default", "$s20FoundationEssentials11FileManagerC7defaultACvgZ") \
    CALL(WARNS_OF_SECRETS, "UserDefaults.standard", "$s10Foundation12UserDefaultsC8standardACvgZ")

/// Defines `__wrap_SYMBOL` as the function `__real_SYMBOL`: with `--wrap=SYMBOL`, the linker calls Foundation's own
/// function. `binding` is the directive of the assembler for the binding of the new symbol.
#define LATCHKEY_PASS_ON(binding, symbol) \
    ".section .text.__wrap_" symbol ", \"ax\", @progbits\n" \
    binding " __wrap_" symbol "\n" \
    ".weak __real_" symbol "\n" \
    ".type __wrap_" symbol ", @function\n" \
    "__wrap_" symbol ":\n" \
    LATCHKEY_JUMP " __real_" symbol LATCHKEY_JUMP_SUFFIX "\n" \
    ".size __wrap_" symbol ", . - __wrap_" symbol "\n" \
    ".text\n"

#if defined(__x86_64__)
#define LATCHKEY_JUMP "jmp"
#define LATCHKEY_JUMP_SUFFIX "@PLT"
#else
#define LATCHKEY_JUMP "b"
#define LATCHKEY_JUMP_SUFFIX ""
#endif
