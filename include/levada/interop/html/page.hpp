// SPDX-License-Identifier: Apache-2.0
#pragma once
// interop/html/page.hpp: the page of a report around its data. The parts of its script are in the headers beside this
// one; they write what the data says as text nodes only, so that no name in it can become a tag.

#include <string>
#include <string_view>

#include <levada/interop/html/graph_script.hpp>
#include <levada/interop/html/memory_script.hpp>
#include <levada/interop/html/script.hpp>
#include <levada/interop/html/style.hpp>
#include <levada/interop/html/table_script.hpp>
#include <levada/interop/html/timeline_script.hpp>

namespace levada::detail {

inline constexpr std::string_view html_body = R"html(<header>
<h1>levada plan</h1><p id="summary"></p>
<div id="bar">
<input id="search" type="search" placeholder="search stages, kinds, backends, devices" aria-label="search">
<output id="found"></output>
<label>colour by <select id="colours"><option>device<option>backend<option>segment</select></label>
<nav><a href="#graph">graph</a><a href="#kernels">kernels</a>
  <a href="#transfers">transfers</a>
  <a href="#memory">memory</a><a href="#timelines">timelines</a><a href="#stages">stages</a></nav>
</div>
</header>
<main>
<section id="promises" hidden><h2>Promises</h2><pre></pre></section>
<section id="graph"><h2>Graph</h2><p class="note"></p><div id="legend"></div>
  <div class="drawing"><svg id="picture" role="img" aria-label="the graph of the plan"></svg></div></section>
<section id="kernels"><h2>Kernels</h2><p class="note"></p><div class="drawing"></div></section>
<section id="transfers"><h2>Transfers between devices</h2><p class="note"></p><div class="drawing"></div></section>
<section id="queues" hidden><h2>Streams at servers</h2><p class="note"></p><div class="drawing"></div></section>
<section id="memory"><h2>Memory over the steps of an item</h2><p class="note"></p></section>
<section id="timelines"><h2>Timelines</h2><p class="note"></p></section>
<section id="stages"><h2>Stages as a run measured them</h2><p class="note"></p><div class="drawing"></div></section>
</main>
<div id="hint" hidden></div>
)html";

/// JSON that may stand inside a script element: nothing in it ends the element or opens a comment.
inline std::string json_for_script(std::string_view json) {
  std::string text;
  text.reserve(json.size());
  for (const char c : json) {
    if (c == '<')
      text += "\\u003c";
    else
      text += c;
  }
  return text;
}

inline std::string html_page(std::string_view json) {
  std::string page =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>levada plan</title>\n<style>\n";
  page += html_style;
  page += "</style>\n</head>\n<body>\n";
  page += html_body;
  page += "<script type=\"application/json\" id=\"data\">";
  page += json_for_script(json);
  page += "</script>\n<script>\n'use strict';\n";
  for (const std::string_view part : {html_script, graph_script, table_script, memory_script, timeline_script})
    page += part;
  page += "</script>\n</body>\n</html>\n";
  return page;
}

}  // namespace levada::detail
