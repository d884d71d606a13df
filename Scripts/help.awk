# SPDX-License-Identifier: Apache-2.0
#
# Prints the targets of the makefiles, below the first sentence of each. A target with a description that begins with ##
# has a line; of those with #- there are the names, unless `all` is set.

function further(    word, line, words, count) {
    count = split(names, words, " ")
    names = ""
    for (word = 1; word <= count; word++) {
        if (length(line words[word]) > 76) { print line; line = "" }
        line = line (line == "" ? "  " (word == 1 ? "also: " : "      ") : ", ") words[word]
    }
    if (line != "") print line
}

FNR == 1 { further() }
FNR == 3 { sub(/^# /, ""); sub(/\.$/, ":"); print }

/^[a-z-]+:.*#[#-] / {
    target = $0
    sub(/:.*/, "", target)
    if (all || $0 ~ /## /) {
        sub(/.*#[#-] /, "")
        printf "  %-*s%s\n", all ? 23 : 14, target, $0
    } else {
        names = names " " target
    }
}

END {
    further()
    if (!all) print "make help ALL=1 describes all of them."
}
