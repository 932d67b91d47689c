// page.hpp — the parts of the HTML timeline that are the same for every trace; they are written in calm/observe/page.
// Laws:    LAB-9 (self-contained)
// Threads: constants
// Cancel:  not applicable
#pragma once

#include <string_view>

namespace calm::observe {

extern const std::string_view page_style;   ///< CSS
extern const std::string_view page_body;    ///< HTML
extern const std::string_view page_script;  ///< JavaScript; it reads the element `data`

}  // namespace calm::observe
