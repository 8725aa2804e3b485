// SPDX-License-Identifier: Apache-2.0
#pragma once
// interop/html/style.hpp: how the page of a report looks, in light and in dark.

#include <string_view>

namespace levada::detail {

inline constexpr std::string_view html_style = R"css(:root {
  color-scheme: light dark;
  --paper: #ffffff; --ink: #1c2128; --quiet: #5b6572; --line: #d5dae1; --raised: #f4f6f8; --accent: #b3261e;
  --c0: #2563a8; --c1: #b45309; --c2: #15803d; --c3: #9333ae;
  --c4: #0e7490; --c5: #a21c4b; --c6: #66730c; --c7: #5a4fcf;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14181d; --ink: #e4e8ed; --quiet: #98a3b0; --line: #333b45; --raised: #1d232a; --accent: #ff8a80;
    --c0: #6cb0f5; --c1: #f0a04b; --c2: #5fce87; --c3: #d490ea;
    --c4: #4fc7de; --c5: #f58bb0; --c6: #c3cf57; --c7: #a8a0ff;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 4rem; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 14px/1.45 system-ui, "Liberation Sans", "DejaVu Sans", sans-serif; }
header, main { max-width: 1600px; margin: 0 auto; padding: 0 1.5rem; }
header { display: contents; }
h1 { font-size: 1.35rem; margin: 1.1rem auto .2rem; max-width: 1600px; padding: 0 1.5rem; }
#summary { max-width: 1600px; margin: 0 auto .4rem; padding: 0 1.5rem; color: var(--quiet); }
h2 { font-size: 1.05rem; margin: 1.8rem 0 .3rem; }
h3 { font-size: .95rem; margin: 1rem 0 .2rem; font-weight: 600; }
.note { color: var(--quiet); margin: .2rem 0 .6rem; max-width: 75rem; }
#bar { position: sticky; top: 0; z-index: 2; display: flex; flex-wrap: wrap; gap: .4rem 1rem; align-items: center;
  background: var(--paper);
  border-bottom: 1px solid var(--line); padding: .5rem max(1.5rem, calc((100vw - 1600px) / 2 + 1.5rem)); }
#bar input, #bar select, button { font: inherit; color: inherit; background: var(--raised);
  border: 1px solid var(--line); border-radius: 5px; padding: .2rem .5rem; }
#search { width: 20rem; max-width: 60vw; }
#found { color: var(--quiet); min-width: 6rem; }
nav { margin-left: auto; display: flex; gap: .9rem; }
nav a { color: var(--quiet); text-decoration: none; }
nav a:hover { color: var(--ink); }
.drawing { overflow-x: auto; }
svg { display: block; }
svg text { fill: var(--ink); font-size: 11.5px; }
svg text.quiet { fill: var(--quiet); font-size: 10.5px; }
.unit { cursor: pointer; }
.unit rect.box { stroke-width: 1.3; }
.unit:hover rect.box, .unit:focus rect.box { stroke-width: 2.6; }
.unit:focus { outline: none; }
.searching .unit:not(.hit), .searching .edge { opacity: .22; }
.unit.hit rect.box { stroke: var(--accent) !important; stroke-width: 2.6; }
.edge { fill: none; stroke: var(--quiet); stroke-width: 1.1; opacity: .75; }
.edge.border { stroke: var(--ink); stroke-width: 2.2; opacity: 1; }
#legend { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; margin: 0 0 .5rem; }
.swatch { display: inline-block; width: .8em; height: .8em; border-radius: 2px; margin-right: .4em;
  vertical-align: -.05em; }
table { border-collapse: collapse; width: 100%; font-size: 13px; }
th { text-align: left; font-weight: 600; color: var(--quiet); border-bottom: 1px solid var(--line);
  padding: .25rem .7rem .25rem 0; white-space: nowrap; }
td { border-bottom: 1px solid var(--line); padding: .25rem .7rem .25rem 0; vertical-align: top;
  font-variant-numeric: tabular-nums; }
td.number, th.number { text-align: right; white-space: nowrap; }
td.item { color: var(--quiet); max-width: 22rem; }
tr.hit td { background: color-mix(in srgb, var(--accent) 12%, transparent); }
tr.chosen td { background: var(--raised); }
.bar { display: block; height: 4px; border-radius: 2px; margin-top: 3px; margin-left: auto; }
.other { color: var(--quiet); display: block; }
.mark { color: var(--quiet); }
#hint { position: fixed; z-index: 3; pointer-events: none; max-width: 30rem;
  background: var(--raised); border: 1px solid var(--line); border-radius: 6px;
  box-shadow: 0 3px 12px rgb(0 0 0 / .25); padding: .45rem .65rem; font-size: 12.5px; white-space: pre-line; }
#hint b { display: block; }
canvas { width: 100%; display: block; }
.controls { display: flex; gap: .4rem; align-items: center; margin: .3rem 0; color: var(--quiet); }
)css";

}  // namespace levada::detail
