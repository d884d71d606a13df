// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// The explanation of an identifier, for `latchkey explain` and the page of errors.
struct ErrorExplanation: Sendable {
    let identifier: ErrorIdentifier
    /// The failure, in one line.
    let title: String
    /// Why.
    let cause: String
    /// The actions to take, one step each.
    let steps: [String]

    private init(_ identifier: ErrorIdentifier, _ title: String, _ cause: String, _ steps: String...) {
        (self.identifier, self.title, self.cause, self.steps) = (identifier, title, cause, steps)
    }

    /// Every identifier, by number.
    static let all: [ErrorExplanation] = requests + people + machine

    /// The explanations of problems with a request, an item or a keychain.
    private static let requests: [ErrorExplanation] = [
        ErrorExplanation(
            .usage, "The command line is not valid",
            "An option is unknown, a value is missing, or operands do not fit together; or there is no such command (exit value 1). Nothing was done.",
            "`latchkey help COMMAND` shows the options and examples of a command."),
        ErrorExplanation(
            .parameter, "A value is not allowed",
            "A value has the wrong form, is out of range, or contradicts another one. Nothing was changed.",
            "The message names the value, and the expected one."),
        ErrorExplanation(
            .unimplemented, "This version, or this system, cannot do that",
            "The request is one of Apple's that Latchkey does not have, or needs a program that is not installed. It was not carried out in part.",
            "`latchkey help` lists the commands.",
            "Documentation/Compatibility.md lists the differences from Apple's keychain."),
        ErrorExplanation(
            .noSuchAttribute, "The class of the item has no such attribute",
            "A query or an item names an attribute that items of its class do not have.",
            "Leave the attribute out, or choose another class."),
        ErrorExplanation(
            .noSuchClass, "There is no such class of items",
            "The request names no class, or one that does not exist.",
            "The classes are generic passwords, internet passwords, keys, certificates and identities."),
        ErrorExplanation(
            .dataTooLarge, "The data is too large",
            "An item holds at most 4 MiB, and other inputs have limits that the message names.",
            "Store a large file as a file: `latchkey protect move --to-keychain ITEM FILE`."),
        ErrorExplanation(
            .userCanceled, "You cancelled",
            "A question was answered with no, or a prompt was closed. Nothing was changed.",
            "Run the command again, and answer `yes` or `y` where it asks for it."),
        ErrorExplanation(
            .itemNotFound, "No matching item",
            "The keychains that were searched have no item with these attributes, or the program has no right to see it.",
            "`latchkey list` shows the items, without their secrets.",
            "`latchkey who` shows the access groups that a program has.",
            "`latchkey status` shows the keychains that are searched."),
        ErrorExplanation(
            .duplicateItem, "The item exists already",
            "An item with the same key attributes exists. It was not replaced.",
            "`latchkey set` replaces an item; `security add-generic-password` does so with `-U`."),
        ErrorExplanation(
            .decode, "The data is damaged, or has another form",
            "An item, a file or a message cannot be opened: it was changed, its content does not fit its name, or it belongs to other keys.",
            "`latchkey doctor` names damaged items, and how to go on.",
            "Restore the item or the file from a backup: `latchkey restore`."),
        ErrorExplanation(
            .noSuchKeychain, "There is no such keychain",
            "No keychain of this user has the name or the path; one with a path is found only where its file is.",
            "`latchkey status` and `security list-keychains` show the names.",
            "`security create-keychain NAME` creates one."),
        ErrorExplanation(
            .duplicateKeychain, "A keychain of this name exists",
            "The keychain, or the file at its path, was not replaced.",
            "Choose another name or path, or delete the keychain first: `security delete-keychain NAME`."),
        ErrorExplanation(
            .invalidKeychain, "This is not the place, or the name, of a keychain",
            "A path that should be a keychain's file or directory is something else, or a name has characters that names do not have.",
            "Move the obstacle away, or point `LATCHKEY_HOME` elsewhere."),
        ErrorExplanation(
            .noDefaultKeychain, "It is not known where the keychain is",
            "Neither `LATCHKEY_HOME` nor `XDG_DATA_HOME` nor `HOME` names a directory.",
            "Set `LATCHKEY_HOME` to a directory that only this user can access."),
        ErrorExplanation(
            .unknownFormat, "The format of the input is not known",
            "A file that was given has none of the formats that the command reads.",
            "The help of the command lists the formats; an option may name the right one."),
        ErrorExplanation(
            .invalidData, "The data is not valid",
            "The input was read, but its content is not allowed.",
            "The message names the part that is wrong."),
        ErrorExplanation(
            .databaseLocked, "Another process holds the database",
            "Another process kept the database busy for longer than a call waits.",
            "Try again; `latchkey doctor` shows the problem if it lasts."),
        ErrorExplanation(
            .newerVersion, "A newer version has written this",
            "The keychain, the backup, the file or the other program has a version that this program does not know. Nothing was changed.",
            "Update Latchkey. After an update, restart latchkeyd: one version must serve all programs.",
            "`latchkey doctor --upgrade-check` shows the formats of the keychain's files."),
    ]

    /// The lock, the person, and access.
    private static let people: [ErrorExplanation] = [
        ErrorExplanation(
            .locked, "The keychain is locked, or you cannot be asked here",
            "The item needs the passcode, a finger or a touch, and there is no terminal, no desktop, or the program forbids questions.",
            "`latchkey unlock`, if latchkeyd is running; otherwise `--passcode-file FILE`, or `LATCHKEY_PASSCODE_FILE` for a service.",
            "`latchkey status` names the methods that can ask you, and why the others cannot be used."),
        ErrorExplanation(
            .authenticationFailed, "The passcode, the passphrase or the answer is wrong",
            "The given secret does not open it, a passcode is required and was not given, or after several wrong ones no passcode is checked for a while.",
            "The message names the cause; `latchkey status` shows the delay, and the programs that sent wrong passcodes.",
            "With a lost passcode: `latchkey recovery-key use`."),
        ErrorExplanation(
            .notInteractive, "You must be asked, and cannot be asked from here",
            "There is no terminal or display for this process, no pinentry is installed, or the program forbids questions.",
            "`latchkey status` names the methods and their problems; `latchkey setup` names the program to install."),
        ErrorExplanation(
            .promptEnded, "The prompt ended without an answer",
            "Its time was over, or the keychain was locked meanwhile.",
            "Try again. `latchkeyd --prompt-timeout` sets the time."),
        ErrorExplanation(
            .passcodeNotSet, "The keychain has no passcode",
            "The access control requires a passcode, and none is set.",
            "`latchkey passcode set`."),
        ErrorExplanation(
            .biometryNotAvailable, "There is no biometry that can be used here",
            "There is no fingerprint reader, fprintd is not running, or only latchkeyd can use it.",
            "`latchkey status` shows the reason."),
        ErrorExplanation(
            .biometryNotEnrolled, "No finger is enrolled",
            "fprintd knows no finger of this user.",
            "`fprintd-enroll`."),
        ErrorExplanation(
            .biometryLockout, "Biometry is locked after too many misses",
            "After five misses, only the passcode is accepted.",
            "`latchkey unlock`."),
        ErrorExplanation(
            .userFallback, "Another method was chosen",
            "The prompt for a finger was left with its second button, and the program has no other method.",
            "Try again with the finger, or unlock the keychain first."),
        ErrorExplanation(
            .programEndedPrompt, "The program ended the prompt",
            "The program that asked has withdrawn its question.",
            "Nothing; the program decides."),
        ErrorExplanation(
            .invalidContext, "The authentication context is not valid any more",
            "The context was invalidated, or belongs to another process.",
            "The program must create a new context."),
        ErrorExplanation(
            .authenticationNeeded, "The call needs an authentication first",
            "An internal status that should not leave Latchkey.",
            "Report it, with the output of `latchkey doctor --report`."),
        ErrorExplanation(
            .missingEntitlement, "The program has no right to this access group",
            "Each program sees its own items and those of the groups that its entitlements name.",
            "`latchkey who` shows the groups of a program, and why it has them.",
            "Documentation/Formats/entitlements.md says how a program gets a group."),
        ErrorExplanation(
            .restrictedAPI, "This client may not do that",
            "The operation is reserved, for example for the user's own command.",
            "Use `latchkey` for it."),
    ]

    /// The machine, keys, certificates, and everything else.
    private static let machine: [ErrorExplanation] = [
        ErrorExplanation(
            .notAvailable, "The keychain, or a resource that it needs, cannot be used",
            "A file of the keychain is missing; a file belongs to another user or can be accessed by others; the device key or the TPM does not open the keychain; or the keychain belongs to latchkeyd, and latchkeyd does not answer.",
            "The message names the file or the program, and the hint has the command.",
            "`latchkey doctor` checks all of it, also for a keychain that does not open."),
        ErrorExplanation(
            .serviceNotAvailable, "The service cannot be reached",
            "latchkeyd, or a service that the request needs, does not answer.",
            "`latchkey status`; `systemctl --user status latchkeyd.socket`."),
        ErrorExplanation(
            .inputOutput, "Reading or writing failed",
            "The file system or the device reported an error, or a file that was named does not exist or cannot be opened.",
            "Check the path in the message; the system log shows a failing disk."),
        ErrorExplanation(
            .diskFull, "No space is left",
            "The file system is full, or the keychain has reached its quota. Every change that was acknowledged before is kept.",
            "Free some space, or delete items. Quotas are in `/etc/latchkey/daemon.conf`."),
        ErrorExplanation(
            .readOnly, "The keychain is on a read-only file system",
            "It can be read, and not be changed.",
            "Mount it read-write, or point `LATCHKEY_HOME` at a directory that can be written."),
        ErrorExplanation(
            .writePermission, "The store may not be written",
            "The request changes something that must not be changed.",
            "The message names it."),
        ErrorExplanation(
            .outOfMemory, "Out of memory",
            "Memory that is locked for secrets, or memory at all, is used up, or the result is larger than one call returns.",
            "Ask for fewer items at a time.",
            "`ulimit -l` shows how much memory a process may lock."),
        ErrorExplanation(
            .internalFailure, "An error in Latchkey",
            "A case that should not occur.",
            "Report it, with the output of `latchkey doctor --report` and the message."),
        ErrorExplanation(
            .keySizeNotAllowed, "A key cannot have this size",
            "The kind of key has other sizes.",
            "`latchkey help key` lists the kinds and sizes."),
        ErrorExplanation(
            .keyUsageIncorrect, "The key may not be used for this",
            "The attributes of the key, or its certificate, do not allow the operation, or the algorithm does not fit its kind.",
            "`latchkey key list` shows the operations that a key allows."),
        ErrorExplanation(
            .verifyFailed, "A signature is not valid",
            "The data was changed, or another key has signed it.",
            "Compare the data and the key with those of the signer."),
        ErrorExplanation(
            .notTrusted, "The certificate is not trusted",
            "No chain leads from the certificate to an anchor of the system or of the user.",
            "`latchkey trust explain FILE…` shows every chain that was tried, and why it was rejected."),
        ErrorExplanation(
            .chainIncomplete, "A certificate of the chain is missing",
            "An intermediate certificate was not given, and is not in the keychain.",
            "Give the whole chain, as servers must send it; `latchkey trust explain FILE…` names the issuer that is missing."
        ),
        ErrorExplanation(
            .certificateRejected, "A certificate does not satisfy a rule",
            "It has expired, was revoked, has another name, or breaks another rule that the status names.",
            "`latchkey trust explain FILE…` shows the expected and the found value."),
        ErrorExplanation(
            .connectionFailed, "A connection with TLS failed",
            "The other side, or its certificate, does not satisfy a requirement.",
            "`latchkey tls check HOST` shows each step of the verdict."),
        ErrorExplanation(
            .other, "A status without a section of its own",
            "Another status of Apple's; the message explains it.",
            "`security error STATUS` shows its meaning."),
    ]
}
