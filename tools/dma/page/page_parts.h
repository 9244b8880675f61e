// Parts of the page that regressions and classifiers share. All return HTML.
#pragma once

#include <string>
#include <vector>

#include "tools/dma/page/shown.h"
#include "tools/dma/pictures/figure.h"

namespace dma::report {

std::string regression_body(const Shown& shown);
std::string classifier_body(const Shown& shown);

// A big number with what it is.
std::string card(const std::string& number, const std::string& what);

// What "judged by" means, in words that do not promise more than it is.
std::string about_judged_rows(const Shown& shown);
std::string name_of_rows(const std::string& judged_by);

std::string charts(const std::vector<std::string>& figures);
std::string large_charts(const std::vector<std::string>& figures);

// Bars of importance, and what they are.
std::string importance_section(const Shown& shown, const std::string& pointer);
std::string averaged_sentence(const Shown& shown);

std::string columns_table(const Shown& shown);
std::string scale_of_inputs(const Shown& shown);  // that have a logarithmic one
// Options as they stand in the JSON, one line each.
std::string options_table(const Shown& shown, const std::vector<std::string>& pointers);

}  // namespace dma::report
