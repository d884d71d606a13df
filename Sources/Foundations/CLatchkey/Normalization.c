// SPDX-License-Identifier: Apache-2.0

#include "CLatchkey.h"
#include "NormalizationTables.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

const uint32_t *latchkey_decomposition(uint32_t scalar, size_t *count) {
    size_t low = 0, high = COUNT(decompositions);
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (decompositions[middle].scalar == scalar) {
            *count = decompositions[middle].count;
            return decomposed_scalars + decompositions[middle].start;
        }
        if (decompositions[middle].scalar < scalar) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *count = 0;
    return NULL;
}

uint8_t latchkey_combining_class(uint32_t scalar) {
    size_t low = 0, high = COUNT(combining_classes);
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (combining_classes[middle].last < scalar) {
            low = middle + 1;
        } else if (combining_classes[middle].first > scalar) {
            high = middle;
        } else {
            return combining_classes[middle].value;
        }
    }
    return 0;
}

uint32_t latchkey_composition(uint32_t first, uint32_t second) {
    size_t low = 0, high = COUNT(compositions);
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct composition *pair = &compositions[middle];
        if (pair->first == first && pair->second == second) { return pair->composed; }
        if (pair->first < first || (pair->first == first && pair->second < second)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return 0;
}

int latchkey_is_spacing_mark(uint32_t scalar) {
    for (size_t index = 0; index < COUNT(spacing_marks); index++) {
        if (spacing_marks[index] == scalar) { return 1; }
    }
    return 0;
}
