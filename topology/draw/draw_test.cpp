// SPDX-License-Identifier: Apache-2.0
#include "topology/draw/draw.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <pugixml.hpp>

#include "topology/generate/generate.h"

namespace starling {
namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST_CASE("a small data centre is drawn whole: every GPU, switch and rack") {
  const Topology t =
      generate("leaf-spine", {.name = "a <small> & \"odd\" one", .servers = 16}).value();
  const std::string svg = draw_svg(t);
  CHECK(pugi::xml_document().load_string(svg.c_str()));
  CHECK(count(svg, "class=\"gpu c0\"") == 16 * 8 + 1);  // and one in the legend
  CHECK(count(svg, "class=\"rack\"") == 2);
  CHECK(count(svg, "class=\"switch\"") == 2 + 4);
  CHECK(count(svg, "class=\"island\"") == 16 * 2 + 1);
  CHECK(count(svg, ">4 x 200 Gbit/s<") == 2);
  CHECK(count(svg, "a &lt;small&gt; &amp; &quot;odd&quot; one") == 1);
}

TEST_CASE("100 000 GPUs make a small picture that names their number") {
  for (const char* kind :
       {"fat-tree", "leaf-spine", "rail-optimised", "dragonfly", "vl2", "flat"}) {
    CAPTURE(kind);
    const Topology t = generate(kind, {.servers = 12'500}).value();
    const std::string svg = draw_svg(t);
    CHECK(pugi::xml_document().load_string(svg.c_str()));
    CHECK(svg.size() < 100'000);
    CHECK(count(svg, "100000 GPUs in 12500 servers") == 1);
  }
}

TEST_CASE("the core switches of a single rack stand above it") {
  const Topology t = generate("leaf-spine", {.servers = 4, .spines = 2}).value();
  const std::string svg = draw_svg(t);
  const std::size_t rack = svg.find("class=\"rack\"");
  const std::size_t pod = svg.find("class=\"pod\"");
  REQUIRE(rack != std::string::npos);
  std::size_t above = 0, within = 0;
  for (std::size_t at = svg.find("class=\"switch\""); at != std::string::npos;
       at = svg.find("class=\"switch\"", at + 1))
    ++(at < rack ? above : within);
  CHECK(pod < rack);
  CHECK(above == 2);   // the spines
  CHECK(within == 1);  // the leaf
}

TEST_CASE("no network, no GPUs: still a picture") {
  Topology::Parts parts = generate("flat", {.servers = 2}).value().parts();
  parts.nodes.clear();
  parts.links.clear();
  CHECK(pugi::xml_document().load_string(draw_svg(Topology(parts)).c_str()));
}

}  // namespace
}  // namespace starling
