// SPDX-License-Identifier: Apache-2.0

#if !Tools
    #error("the executables need the trait Tools: swift build --enable-all-traits")
#endif
